#include "engines/cpu_shared/run/kernel_stack.h"

#include <sys/mman.h>

#include "engines/cpu_shared/run/stack_switch.h"

// void metalloid_call_on_stack(void* top, void** (*function)(), void** host): saves the stack pointer in *host, calls
// the function on the other stack, and returns to the stack pointer that lies where the function's result says. A call
// and not a switch of contexts: the processor predicts its returns. Nothing is taken from the other stack afterwards.
extern "C" void metalloid_call_on_stack(void* top, void** (*function)(), void** host);
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .local metalloid_call_on_stack
  .type metalloid_call_on_stack, @function
metalloid_call_on_stack:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdx)
  movq %rdi, %rsp
  callq *%rsi
  movq (%rax), %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  .cfi_def_cfa %rsp, 8
  retq
  .cfi_endproc
  .size metalloid_call_on_stack, . - metalloid_call_on_stack
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .local metalloid_call_on_stack
  .type metalloid_call_on_stack, %function
metalloid_call_on_stack:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-160]!
  .cfi_def_cfa_offset 160
  .cfi_offset 29, -160
  .cfi_offset 30, -152
  mov x29, sp
  .cfi_def_cfa_register 29
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x2]
  mov sp, x0
  blr x1
  ldr x9, [x0]
  mov sp, x9
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #160
  .cfi_def_cfa 31, 0
  ret
  .cfi_endproc
  .size metalloid_call_on_stack, . - metalloid_call_on_stack
)");
#else
#error "calling a function on another stack is not written for this processor"
#endif

namespace metalloid::engines::cpu {
namespace {

// For functions that call themselves: frames of 32 lanes take kilobytes. What is not touched costs nothing.
constexpr std::size_t stack_bytes = std::size_t{128} << 20;

}  // namespace

__attribute__((tls_model("initial-exec"))) constinit thread_local KernelStack* KernelStack::current_ = nullptr;

void KernelStack::prepare() {
  if (mapping_.size() != 0) return;
  mapping_.map(stack_bytes);
  // A few touched pages are the usual case.
  ::madvise(mapping_.begin(), mapping_.size(), MADV_NOHUGEPAGE);
}

void** KernelStack::way_back() {
  asm volatile("" ::: "memory");
  return &current_->host_;
}

METALLOID_UNSANITIZED void KernelStack::run(Function function, void* owner) {
  owner_ = owner;
  outer_ = current_;
  current_ = this;
  inside_ = true;
#if defined(METALLOID_ADDRESS_SANITIZER)
  function_ = function;
  function = run_sanitized;
  void* fake_stack = nullptr;
  announce(&fake_stack, mapping_.begin(), mapping_.size());
  metalloid_call_on_stack(mapping_.end(), function, &host_);
  arrive(fake_stack, nullptr, nullptr);
#else
  metalloid_call_on_stack(mapping_.end(), function, &host_);
#endif
  inside_ = false;
  current_ = outer_;
}

// Tells address sanitizer that the stack has changed.
METALLOID_UNSANITIZED void** KernelStack::run_sanitized() {
  arrive(nullptr, &current_->caller_stack_, &current_->caller_stack_size_);
  current_->function_();
  void** back = way_back();
  announce(nullptr, current_->caller_stack_, current_->caller_stack_size_);
  return back;
}

METALLOID_UNSANITIZED void KernelStack::reset() {
  if (!inside_) return;
#if defined(METALLOID_ADDRESS_SANITIZER)
  announce(nullptr, caller_stack_, caller_stack_size_);
  arrive(nullptr, nullptr, nullptr);
  // What abandoned threads left behind: the sanitizer's shadow of their frames.
  __asan_unpoison_memory_region(mapping_.begin(), mapping_.size());
#endif
  // A stack that ended was touched from one end to the other.
  ::madvise(mapping_.begin(), mapping_.size(), MADV_DONTNEED);
  inside_ = false;
  current_ = outer_;
}

const std::byte* KernelStack::end_above(const void* address) const {
  auto* byte = static_cast<const std::byte*>(address);
  return byte >= mapping_.begin() && byte < mapping_.end() ? mapping_.end() : nullptr;
}

}  // namespace metalloid::engines::cpu
