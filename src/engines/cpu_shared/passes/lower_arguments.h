// Wraps a kernel, one thread's program with Metal's arguments, into an entry point that the engine can call.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <array>
#include <cstdint>
#include <string_view>

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
// One lane's program, for an engine that widens it to a simdgroup (simd/):
//
//   void metalloid_lane(state, first_thread)
//     kernel(state->arguments[0], ..., metalloid_position_x(), ...)
//
// The kernel is inlined into the entry point, which takes over its debug information, and disappears.
// metalloid.thread_index becomes arithmetic there. Functions that stay calls are given the index and the state as
// parameters, if they need them.
enum class EntryForm : std::uint8_t { threads_in_loops, one_thread, one_lane };
struct Entry {
  llvm::Function* function = nullptr;
  llvm::Value* thread_index = nullptr;  // in its threadgroup
};
Entry lower_arguments(llvm::Module& module, const KernelInfo& info, EntryForm form);

inline constexpr std::string_view lane_name = "metalloid_lane";
// u32 (): where the lane's thread lies in its threadgroup, and its index there. Nobody defines them.
inline constexpr std::array<std::string_view, 3> position_names = {"metalloid_position_x", "metalloid_position_y",
                                                                   "metalloid_position_z"};
inline constexpr std::string_view index_name = "metalloid_index";

}  // namespace metalloid::engines::cpu
