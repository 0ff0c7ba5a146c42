// What generated code and the runtime of CPU engines agree on: the layouts, names and signatures of both sides. Engines
// add their own (reference/meeting_abi.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace metalloid::checker {
class Screen;
class Watch;
}  // namespace metalloid::checker

namespace metalloid::engines::cpu {

// What a running threadgroup knows. Generated code reads it by these offsets (passes/lower_arguments.cpp).
struct ThreadgroupState {
  void* const* arguments = nullptr;         // per kernel argument: address of its buffer or threadgroup memory
  std::byte* threadgroup_memory = nullptr;  // static variables, at the offsets that lower_threadgroup_memory chose
  std::uint32_t threads_per_grid[3] = {};
  std::uint32_t threadgroups_per_grid[3] = {};
  std::uint32_t dispatch_threads_per_threadgroup[3] = {};  // nominal
  std::uint32_t threadgroup_position_in_grid[3] = {};
  std::uint32_t threads_per_threadgroup[3] = {};  // actual: smaller at the grid's edge
  std::uint32_t threadgroups_in_row = 0;          // along x, that a worker runs one behind the other, about
  // Of the thread that starts.
  std::byte* private_memory = nullptr;  // its variables, at the offsets that lower_private_memory chose
  // Of engines that run a thread at a time: where it leaves what it brings to a meeting, and what it keeps meanwhile.
  std::uint64_t* lane = nullptr;
  void* frame = nullptr;
  // A bit for each of the first arguments: whether its buffer is larger than the caches, and than a core's own.
  std::uint64_t streams = 0, far_streams = 0;
  // Of a checked dispatch, one of them.
  checker::Watch* watch = nullptr;
  checker::Screen* screen = nullptr;
  // Per kernel argument: bytes from its address to the end of what is bound, and those in front of the address.
  const std::uint64_t* argument_bytes = nullptr;
  // Threadgroups along x that the code runs behind this one (KernelFacts::runs_several).
  std::uint32_t threadgroups_behind = 0;
};
inline constexpr unsigned most_streams = 64;

// Generated: runs all threads of a threadgroup in loops (kernels whose threads never meet).
using RunThreadgroup = void (*)(ThreadgroupState*);
inline constexpr std::string_view run_threadgroup_name = "metalloid_run_threadgroup";

// Generated: where the engine's ThreadRunner starts (kernels whose threads meet). Its type is the engine's; that of
// lower_arguments runs the thread at a position in its threadgroup.
using RunThread = void (*)(ThreadgroupState*, std::uint32_t x, std::uint32_t y, std::uint32_t z);
inline constexpr std::string_view run_thread_name = "metalloid_run_thread";

// Runtime entry points that generated code calls.
//   ThreadgroupState* current()    for functions that are called through pointers
//   u32  current_thread(ThreadgroupState*)    the one that runs, where threads meet
//   void log(ThreadgroupState*, u32 thread, u32 level, char* where, char* subsystem, char* category,
//            char* format, LogArgument*, u32 count)
//   void report_bounds(ThreadgroupState*, u32 thread, u64 offset, u64 bytes, u64 available, u64* front, char* what,
//                      char* first, char* last)    does not return (engines/out_of_bounds.h)
inline constexpr std::string_view current_name = "metalloid_current_threadgroup";
inline constexpr std::string_view current_thread_name = "metalloid_current_thread";
inline constexpr std::string_view log_name = "metalloid_log";
// Of checked kernels: those of checker/run/watch.h, with the state in front. An access in each address space.
inline constexpr std::string_view check_access_name = "metalloid_check_access_p";
inline constexpr std::string_view check_fail_name = "metalloid_check_fail";
inline constexpr std::string_view check_meeting_name = "metalloid_check_meeting";
inline constexpr std::string_view check_end_name = "metalloid_check_end";
inline constexpr std::string_view report_bounds_name = "metalloid_report_bounds";

// Generated: facts of the compiled kernel.
struct KernelFacts {
  std::uint32_t threads_meet;               // 1: run_thread_name, 0: run_threadgroup_name
  std::uint32_t static_threadgroup_memory;  // bytes
  std::uint32_t private_memory;             // bytes per program
  std::uint32_t threads_per_program;        // 1, or those of a simdgroup that runs in step
  std::uint32_t logs;                       // 1: the kernel has messages to write
  std::uint32_t row;                        // if not 0, all rows of threads are multiples of so many
  std::uint32_t half_rows;                  // 1: or they are two rows of half as many, and two more
  std::uint32_t slow_alone;                 // 1: other code is faster for threadgroups of one thread
  std::uint32_t slow_columns;               // 1: or that are one thread wide
  std::uint32_t runs_several;               // 1: run_threadgroup_name runs ThreadgroupState::threadgroups_behind, too
};
inline constexpr std::string_view facts_name = "metalloid_kernel_facts";
// Generated, if the engine has such: what its ThreadRunner wants to know.
inline constexpr std::string_view engine_facts_name = "metalloid_engine_facts";

}  // namespace metalloid::engines::cpu
