// Switching between fibers, the hot spot of kernels whose threads meet.
//
// On x86-64 this is our own: Boost.Context's switch leaves by an indirect jump, after which the processor mispredicts
// every return up to the kernel (about twice the cost on Zen 4), and it saves floating-point control words that no
// kernel changes. Other machines use Boost.Context.
#pragma once

#include <cstddef>

namespace metalloid::engines::reference {

// A suspended fiber: where its registers lie on its stack.
using Context = void*;

// A fiber that, when first switched to, calls `function(argument)`, which must never return.
Context make_context(void* stack_top, std::size_t stack_size, void (*function)(void*), void* argument);

// Suspends the running fiber into `from` and resumes `to`.
#if defined(__x86_64__) && !defined(METALLOID_BOOST_CONTEXT)
extern "C" void metalloid_switch_context(Context* from, Context to) noexcept;
inline void switch_context(Context* from, Context to) { metalloid_switch_context(from, to); }
#else
void switch_context(Context* from, Context to);
#endif

}  // namespace metalloid::engines::reference
