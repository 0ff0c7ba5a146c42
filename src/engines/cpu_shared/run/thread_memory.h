// A piece of memory for each thread of a threadgroup, reused from threadgroup to threadgroup. A thread that runs over
// its own reaches other threads' and then unmapped pages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/guarded_mapping.h"

namespace metalloid::engines::cpu {

class ThreadMemory {
 public:
  // Makes that many pieces of at least that many bytes, aligned to 128. Throws std::bad_alloc.
  void reserve(std::uint32_t count, std::size_t bytes);
  std::byte* of(std::uint32_t thread) const { return mapping_.begin() + thread * stride_; }

  bool is_guard(const void* address) const { return mapping_.is_below(address) || mapping_.is_above(address); }

 private:
  support::GuardedMapping mapping_;
  std::size_t stride_ = 0;
};

}  // namespace metalloid::engines::cpu
