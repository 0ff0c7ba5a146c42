// Memory that kernels run over at both ends without reaching anything of the process: unmapped pages lie around it.
#pragma once

#include <cstddef>

namespace metalloid::engines::cpu {

class GuardedMapping {
 public:
  // Address space only. What jumps further in one step is not caught.
  static constexpr std::size_t guard_bytes = std::size_t{16} << 20;

  GuardedMapping() = default;
  ~GuardedMapping() { release(); }
  GuardedMapping(const GuardedMapping&) = delete;
  GuardedMapping& operator=(const GuardedMapping&) = delete;

  // Zeros, in whole pages; pages that nobody touches cost nothing. Replaces what was there. Throws std::bad_alloc.
  void map(std::size_t bytes);
  void release();

  std::byte* begin() const { return memory_; }
  std::byte* end() const { return memory_ + bytes_; }
  std::size_t size() const { return bytes_; }
  bool is_below(const void* address) const;  // in the unmapped pages
  bool is_above(const void* address) const;

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace metalloid::engines::cpu
