// What generated code and the reference engine agree on where threads meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engines/cpu_shared/kernel_abi.h"

namespace metalloid::engines::reference {

using cpu::RunThread;
using cpu::ThreadgroupState;

struct Site;

// Where the lanes of a simdgroup leave what they bring to a meeting. A lane is given the address of its value; the rest
// lies at fixed distances.
struct alignas(64) LaneBoard {
  static constexpr unsigned lanes = 32;
  std::uint64_t values[lanes];  // replaced by the results
  const Site* sites[lanes];     // where the lane stopped, null: it has ended
  // What operations have besides a value: the operand of a permutation, a matrix's second and third.
  std::uint64_t operands[lanes], addends[lanes];
};

// A thread stops at its first meeting by returning, if it can stop by itself (split_at_meetings.h). Its frame then
// begins with the function that lets it go on to the next one.
using ResumeThread = void (*)(void* frame);
inline constexpr std::uint32_t frame_alignment = 64;

// A place in the code where threads meet. Generated as an array sorted so that code that runs earlier comes first:
// lanes that lag behind then reach the others before those go on.
struct Site {
  enum class Kind : std::uint8_t { cross_lane, matrix, simdgroup_barrier, threadgroup_barrier, call, agree };
  Kind kind;
  // ir::CrossLane, LaneType and LaneGroup; or ir::MatrixAction and the MatrixElement of a and of b.
  std::uint8_t operation, type, group_or_type;
};
static_assert(sizeof(Site) == 4);

// How a lane came to a site in a function that stays a call: the calls that it is in, innermost first, on its stack.
// Calls of functions with sites have entries among the caller's sites.
struct CallPath {
  const CallPath* caller;
  const Site* call;
};

// Runtime entry points that generated code calls; they are gone from threads that stop by themselves.
//   u64  cross_lane(ThreadgroupState*, Site*, u64 value, u64 operand, u64 addend)    poison: the operation has none
//   void barrier(ThreadgroupState*, Site*)
//   void call_path(ThreadgroupState*, CallPath*)    of the meeting that comes next
inline constexpr std::string_view cross_lane_name = "metalloid_cross_lane";
inline constexpr std::string_view barrier_name = "metalloid_barrier";
inline constexpr std::string_view call_path_name = "metalloid_call_path";

// Generated: cpu::engine_facts_name.
struct MeetingFacts {
  std::uint32_t on_fibers;          // 1: threads cannot stop by themselves, each needs a stack
  std::uint32_t frame_bytes;        // per thread that stops by itself
  std::uint32_t by_masks;           // 1: lanes agree on who takes part (expand_masks.h)
  std::uint32_t barriers_by_masks;  // 1: also in threadgroup barriers
};

}  // namespace metalloid::engines::reference
