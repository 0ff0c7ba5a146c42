// What generated code and the reference engine agree on where threads meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engines/cpu/kernel_abi.h"

namespace metalloid::engines::reference {

using cpu::RunThread;
using cpu::ThreadgroupState;

struct Site;

// Where the lanes of a simdgroup leave what they bring to a meeting. A lane is given the address of its value; its
// site and operand lie at fixed distances.
struct alignas(64) LaneBoard {
  static constexpr unsigned lanes = 32;
  std::uint64_t values[lanes];    // replaced by the results
  const Site* sites[lanes];       // where the lane stopped, null: it has ended
  std::uint64_t operands[lanes];  // that cross-lane operations have besides a value
};

// A thread stops at its first meeting by returning, if it can stop by itself (split_at_meetings.h). Its frame then
// begins with the function that lets it go on to the next one.
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

// Runtime entry points that generated code calls. The first three and the last are gone from threads that stop by
// themselves.
//   u64  cross_lane(ThreadgroupState*, Site*, u64 value, u32 operand)
//   void barrier(ThreadgroupState*, Site*)
//   void call_path(ThreadgroupState*, CallPath*)    of the meeting that comes next
//   u64* matrix_registers(ThreadgroupState*)    the calling lane's register 0
//   void matrices(ThreadgroupState*, Site*, MatrixProgram*, u64* registers)
inline constexpr std::string_view cross_lane_name = "metalloid_cross_lane";
inline constexpr std::string_view barrier_name = "metalloid_barrier";
inline constexpr std::string_view call_path_name = "metalloid_call_path";
inline constexpr std::string_view matrix_registers_name = "metalloid_matrix_registers";
inline constexpr std::string_view matrices_name = "metalloid_matrices";

// Generated: cpu::engine_facts_name.
struct MeetingFacts {
  std::uint32_t on_fibers;         // 1: threads cannot stop by themselves, each needs a stack
  std::uint32_t frame_bytes;       // per thread that stops by itself
  std::uint32_t matrix_registers;  // per lane
};

}  // namespace metalloid::engines::reference
