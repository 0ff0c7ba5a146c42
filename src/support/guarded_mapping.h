// Memory that kernels run over at both ends without reaching anything of the process: pages that nobody may touch lie
// around it.
#pragma once

#include <cstddef>

namespace metalloid::support {

class GuardedMapping {
 public:
  // Address space only. What jumps further in one step is not caught.
  static constexpr std::size_t guard_bytes = std::size_t{16} << 20;

  GuardedMapping() = default;
  ~GuardedMapping() { release(); }
  GuardedMapping(const GuardedMapping&) = delete;
  GuardedMapping& operator=(const GuardedMapping&) = delete;

  // Zeros, in whole pages; pages that nobody touches cost nothing. Replaces what was there. `below` and `above` are
  // sizes of what may not be touched, in whole pages. Throws std::bad_alloc.
  void map(std::size_t bytes, std::size_t below = guard_bytes, std::size_t above = guard_bytes);
  void release();

  std::byte* begin() const { return memory_; }
  std::byte* end() const { return memory_ + bytes_; }
  std::size_t size() const { return bytes_; }
  bool is_below(const void* address) const;  // in the pages that nobody may touch
  bool is_above(const void* address) const;

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0, below_ = 0, above_ = 0;
};

}  // namespace metalloid::support
