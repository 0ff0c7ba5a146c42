// Stacks of their own for threads that meet inside recursive functions, where they cannot stop by themselves
// (split_at_meetings.h). One set per worker, reused from threadgroup to threadgroup.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "support/guarded_mapping.h"

namespace metalloid::engines::reference {

class Fibers {
 public:
  Fibers() = default;
  ~Fibers() { release(); }
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // Makes room for that many fibers (at most 1024). Throws std::bad_alloc.
  void reserve(std::uint32_t count);

  // Lets a fiber begin with `function()`, which must end with stop(). Returns when the fiber has stopped. A kernel may
  // run over what lies on its stack, so the function keeps nothing there across the kernel's call (kernel_stack.h).
  void start(std::uint32_t index, void (*function)());
  // Lets a fiber go on. Returns when it has stopped again.
  void resume(std::uint32_t index);
  // Called on the running fiber: back to whoever started or resumed it.
  void stop();

  // After the running fiber was abandoned.
  void reset();

  // True if the address is in the memory below a stack that nobody may touch.
  bool is_guard(const void* address) const;
  // The upper end of the stack that the address lies on, null if it is none.
  const std::byte* end_of_stack(const void* address) const;

 private:
  friend struct FirstFrame;
  using Context = void*;  // a suspended fiber, or who waits for the running one
  std::byte* top(std::uint32_t index) const;
  void release();

  support::GuardedMapping mapping_;
  std::byte* memory_ = nullptr;
  std::uint32_t count_ = 0;
  bool has_guards_ = false;
  std::array<Context, 1024> contexts_ = {};
  Context caller_ = nullptr;
  std::uint32_t running_ = 0;
  bool inside_ = false;
  void (*function_)() = nullptr;
  // Address sanitizer's view of the caller's stack.
  const void* caller_stack_ = nullptr;
  std::size_t caller_stack_size_ = 0;
};

}  // namespace metalloid::engines::reference
