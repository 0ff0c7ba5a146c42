// Memory between two strips of a known pattern, behind which nothing may be touched: shows stray writes near by and
// turns those farther away into faults.
#pragma once

#include <cstddef>

#include "support/guarded_mapping.h"
#include "support/padding.h"

namespace metalloid::support {

class GuardedMemory {
 public:
  // Aligned to 4096 bytes. Throws std::bad_alloc.
  explicit GuardedMemory(std::size_t size);

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Whether both strips hold the pattern, which they do afterwards in any case.
  bool check_and_mend() { return padding_.check_and_mend(); }

 private:
  GuardedMapping mapping_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  Padding padding_;
};

}  // namespace metalloid::support
