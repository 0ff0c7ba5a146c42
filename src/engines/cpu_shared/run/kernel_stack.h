// The stack that a worker's kernels run on. A kernel that runs over its own arrays meets its own stack's end and not
// what the host, the crash guard or the engine keeps on the thread's stack.
//
// What lies on this stack above a kernel's frame may be overwritten by the kernel, saved registers included. So
// functions that run here ask current_owner() for what they need after each call of a kernel, or at least whether it is
// still what they hold.
#pragma once

#include <cstddef>

#include "support/guarded_mapping.h"

namespace metalloid::engines::cpu {

class KernelStack {
 public:
  // Maps the stack, the first time. Throws std::bad_alloc.
  void prepare();

  // Runs function() on the stack. It must not throw, finds `owner` by current_owner(), and returns way_back().
  using Function = void** (*)();
  void run(Function function, void* owner);
  static void** way_back();
  static void* current_owner() {
    asm volatile("" ::: "memory");  // each call reads it anew
    return current_->owner_;
  }

  // After the function was abandoned.
  void reset();

  bool is_below(const void* address) const { return mapping_.is_below(address); }
  bool is_above(const void* address) const { return mapping_.is_above(address); }
  // The stack's end if the address lies on the stack, else null.
  const std::byte* end_above(const void* address) const;

 private:
  static void** run_sanitized();
  __attribute__((tls_model("initial-exec"))) static constinit thread_local KernelStack* current_;

  support::GuardedMapping mapping_;
  void* host_ = nullptr;  // the host's stack pointer
  void* owner_ = nullptr;
  Function function_ = nullptr;
  KernelStack* outer_ = nullptr;
  bool inside_ = false;
  // Address sanitizer's view of the caller's stack.
  const void* caller_stack_ = nullptr;
  std::size_t caller_stack_size_ = 0;
};

}  // namespace metalloid::engines::cpu
