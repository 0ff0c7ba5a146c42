// Memory between two strips of a known pattern, behind which nothing may be touched: shows stray writes near by and
// turns those farther away into faults.
#pragma once

#include <cstddef>
#include <span>

namespace metalloid::tuning {

class GuardedMemory {
 public:
  // Page-aligned. Throws std::bad_alloc.
  explicit GuardedMemory(std::size_t size);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Whether both strips hold the pattern, which they do afterwards in any case.
  bool check_and_mend();

 private:
  std::span<std::byte> before() const;
  std::span<std::byte> after() const;

  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace metalloid::tuning
