// What generated code and the engine's runtime agree on: the layouts, names and signatures of both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace metalloid::engines::reference {

struct Site;

// Where the lanes of a simdgroup leave what they bring to a meeting. A lane is given the address of its value; its
// site and operand lie at fixed distances.
struct alignas(64) LaneBoard {
  static constexpr unsigned lanes = 32;
  std::uint64_t values[lanes];    // replaced by the results
  const Site* sites[lanes];       // where the lane stopped, null: it has ended
  std::uint64_t operands[lanes];  // that cross-lane operations have besides a value
};

// What a running threadgroup knows. Generated code reads it by these offsets (lower_arguments.cpp).
struct ThreadgroupState {
  void* const* arguments = nullptr;         // per kernel argument: address of its buffer or threadgroup memory
  std::byte* threadgroup_memory = nullptr;  // static variables, at the offsets that lower_threadgroup_memory chose
  std::uint32_t threads_per_grid[3] = {};
  std::uint32_t threadgroups_per_grid[3] = {};
  std::uint32_t dispatch_threads_per_threadgroup[3] = {};  // nominal
  std::uint32_t threadgroup_position_in_grid[3] = {};
  std::uint32_t threads_per_threadgroup[3] = {};  // actual: smaller at the grid's edge
  // Of the thread that starts.
  std::byte* private_memory = nullptr;  // its variables, at the offsets that lower_private_memory chose
  std::uint64_t* lane = nullptr;        // its value on the board
  void* frame = nullptr;                // what it keeps while it waits
};

// Generated: runs all threads of a threadgroup in loops (kernels whose threads never meet).
using RunThreadgroup = void (*)(ThreadgroupState*);
inline constexpr std::string_view run_threadgroup_name = "metalloid_run_threadgroup";

// Generated: runs the thread at a position in its threadgroup, up to its first meeting if it stops at meetings
// (split_at_meetings.h). Its frame then begins with the function that lets it go on to the next one.
using RunThread = void (*)(ThreadgroupState*, std::uint32_t x, std::uint32_t y, std::uint32_t z);
inline constexpr std::string_view run_thread_name = "metalloid_run_thread";
using ResumeThread = void (*)(void* frame);
inline constexpr std::uint32_t frame_alignment = 64;

// A place in the code where threads meet. Generated as an array sorted so that code that runs earlier comes first:
// lanes that lag behind then reach the others before those go on.
struct Site {
  enum class Kind : std::uint8_t { cross_lane, matrices, simdgroup_barrier, threadgroup_barrier, call };
  Kind kind;
  std::uint8_t operation;  // ir::CrossLane
  std::uint8_t type;       // ir::LaneType
  std::uint8_t group;      // ir::LaneGroup
};
static_assert(sizeof(Site) == 4);

// How a lane came to a site in a function that stays a call: the calls that it is in, innermost first, on its stack.
// Calls of functions with sites have entries among the caller's sites.
struct CallPath {
  const CallPath* caller;
  const Site* call;
};

// Operations on matrices that a simdgroup carries out in one meeting. Lanes put their elements into registers first:
// register r of lane l is the pair of floats at [r * 32 + l] of the simdgroup's registers. A step does c = a * b + c,
// or fills c with the elements of a and b in another order. Generated as the members, then the steps.
struct MatrixStep {
  std::uint32_t action;  // ir::MatrixAction
  std::uint32_t a, b, c;
};
struct MatrixProgram {
  std::uint32_t registers, steps;
  // A bit for each register, the lower 32 first: those that the lanes fill, and those that they read afterwards.
  std::uint32_t filled[2], read[2];
  static bool has(const std::uint32_t (&set)[2], std::uint32_t r) { return ((set[r / 32] >> (r % 32)) & 1) != 0; }
  const MatrixStep* begin() const { return reinterpret_cast<const MatrixStep*>(this + 1); }
  const MatrixStep* end() const { return begin() + steps; }
};
inline constexpr std::uint32_t most_matrix_registers = 64;

// Runtime entry points that generated code calls. The first three and the fifth are gone from threads that stop by
// themselves.
//   u64  cross_lane(ThreadgroupState*, Site*, u64 value, u32 operand)
//   void barrier(ThreadgroupState*, Site*)
//   void call_path(ThreadgroupState*, CallPath*)    of the meeting that comes next
//   u64* matrix_registers(ThreadgroupState*)    the calling lane's register 0
//   void matrices(ThreadgroupState*, Site*, MatrixProgram*, u64* registers)
//   ThreadgroupState* current()    for functions that are called through pointers
//   u32  current_thread(ThreadgroupState*)
//   void log(ThreadgroupState*, u32 thread, u32 level, char* where, char* format, LogArgument*, u32 count)
inline constexpr std::string_view cross_lane_name = "metalloid_cross_lane";
inline constexpr std::string_view barrier_name = "metalloid_barrier";
inline constexpr std::string_view call_path_name = "metalloid_call_path";
inline constexpr std::string_view matrix_registers_name = "metalloid_matrix_registers";
inline constexpr std::string_view matrices_name = "metalloid_matrices";
inline constexpr std::string_view current_name = "metalloid_current_threadgroup";
inline constexpr std::string_view current_thread_name = "metalloid_current_thread";
inline constexpr std::string_view log_name = "metalloid_log";

// Generated: facts of the compiled kernel.
struct KernelFacts {
  std::uint32_t threads_meet;               // 1: RunThread, 0: RunThreadgroup
  std::uint32_t on_fibers;                  // 1: threads cannot stop by themselves, each needs a stack
  std::uint32_t static_threadgroup_memory;  // bytes
  std::uint32_t private_memory;             // bytes per thread
  std::uint32_t frame_bytes;                // per thread that stops by itself
  std::uint32_t matrix_registers;           // per lane
  std::uint32_t logs;                       // 1: the kernel has messages to write
};
inline constexpr std::string_view facts_name = "metalloid_kernel_facts";

}  // namespace metalloid::engines::reference
