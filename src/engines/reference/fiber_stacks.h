// Stacks for the threads of a threadgroup, one region per worker, reused from threadgroup to threadgroup.
#pragma once

#include <cstddef>
#include <cstdint>

namespace metalloid::engines::reference {

class FiberStacks {
 public:
  FiberStacks() = default;
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  // Makes room for that many stacks of at least that many usable bytes. Throws std::bad_alloc.
  void reserve(std::uint32_t count, std::size_t bytes);

  // Where a stack starts (it grows down from here) and how large it is.
  //
  // Starts are staggered by cache lines: stacks a whole number of pages apart would all fight for the same few
  // lines of the first-level cache.
  void* top(std::uint32_t index) const { return memory_ + (index + std::size_t{1}) * stride_ - (index % 32) * 128; }
  std::size_t size() const { return stride_ - guard_ - 32 * 128; }

  // True if the address is in the memory below a stack that nobody may touch.
  bool is_guard(const void* address) const;

  // Forgets what abandoned threads left behind (address sanitizer's shadow of their frames).
  void clean();

 private:
  void release();
  std::byte* memory_ = nullptr;
  std::size_t mapped_ = 0, stride_ = 0, guard_ = 0;
  std::uint32_t count_ = 0;
  bool has_guards_ = false;
};

}  // namespace metalloid::engines::reference
