// Wraps a kernel, one thread's program with Metal's arguments, into an entry point that the engine can call.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "metalloid/reflection.h"

namespace metalloid::engines::cpu {

// Buffers and built-in values come out of a ThreadgroupState (kernel_abi.h). Threads that never meet run in loops:
//
//   void metalloid_run_threadgroup(state)               void metalloid_run_thread(state, x, y, z)
//     for z < threads_per_threadgroup.z                   kernel(state->arguments[0], ..., position, ...)
//       for y < threads_per_threadgroup.y
//         for x < threads_per_threadgroup.x
//           kernel(state->arguments[0], ..., position, ...)
//
// The kernel is inlined into the entry point, which takes over its debug information, and disappears.
// metalloid.thread_index becomes arithmetic there. Functions that stay calls are given the index and the state as
// parameters, if they need them.
llvm::Function& lower_arguments(llvm::Module& module, const KernelInfo& info, bool threads_meet);

}  // namespace metalloid::engines::cpu
