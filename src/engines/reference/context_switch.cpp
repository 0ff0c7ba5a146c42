#include "engines/reference/context_switch.h"

#include <cstdint>

#if defined(__x86_64__) && !defined(METALLOID_BOOST_CONTEXT)

// The registers that calls preserve go onto the stack. The final `ret` pairs with the `call` of whoever resumes, so
// that return prediction stays right: all fibers stop along the same chain of calls.
asm(R"(
.text
.p2align 4
.globl metalloid_switch_context
.hidden metalloid_switch_context
.type metalloid_switch_context,@function
metalloid_switch_context:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size metalloid_switch_context,.-metalloid_switch_context

.p2align 4
.globl metalloid_start_context
.hidden metalloid_start_context
.type metalloid_start_context,@function
metalloid_start_context:
  movq %r12, %rdi
  callq *%rbx
  ud2
.size metalloid_start_context,.-metalloid_start_context
)");

extern "C" void metalloid_start_context();

namespace metalloid::engines::reference {

Context make_context(void* stack_top, std::size_t, void (*function)(void*), void* argument) {
  // As metalloid_switch_context leaves a stack, with metalloid_start_context as the place to return to. Calls want
  // the stack aligned to 16 bytes at the call itself.
  auto top = reinterpret_cast<std::uintptr_t>(stack_top) & ~std::uintptr_t{15};
  auto* slots = reinterpret_cast<std::uintptr_t*>(top) - 9;  // slots[7] is aligned
  slots[0] = slots[1] = slots[2] = 0;                        // r15, r14, r13
  slots[3] = reinterpret_cast<std::uintptr_t>(argument);     // r12
  slots[4] = reinterpret_cast<std::uintptr_t>(function);     // rbx
  slots[5] = 0;                                              // rbp
  slots[6] = reinterpret_cast<std::uintptr_t>(&metalloid_start_context);
  slots[7] = 0;
  return slots;
}

}  // namespace metalloid::engines::reference

#else

#include <boost/context/detail/fcontext.hpp>

namespace metalloid::engines::reference {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {

struct Work {
  void (*function)(void*);
  void* argument;
};

// Runs once from make_context to take its work over, and again when the fiber is first switched to.
void start(transfer_t transfer) {
  Work work = *static_cast<Work*>(transfer.data);
  transfer = jump_fcontext(transfer.fctx, nullptr);
  *static_cast<Context*>(transfer.data) = transfer.fctx;
  work.function(work.argument);
}

}  // namespace

Context make_context(void* stack_top, std::size_t stack_size, void (*function)(void*), void* argument) {
  Work work{function, argument};
  return jump_fcontext(make_fcontext(stack_top, stack_size, start), &work).fctx;
}

// Whoever arrives stores the leaver's context where the leaver asked for it.
void switch_context(Context* from, Context to) {
  transfer_t transfer = jump_fcontext(to, from);
  *static_cast<Context*>(transfer.data) = transfer.fctx;
}

}  // namespace metalloid::engines::reference

#endif
