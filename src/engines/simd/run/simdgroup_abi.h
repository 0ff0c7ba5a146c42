// What generated code and the SIMD engine agree on, besides cpu_shared/kernel_abi.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "engines/cpu_shared/kernel_abi.h"

namespace metalloid::engines::simd {

using cpu::ThreadgroupState;

// Generated: runs the simdgroup whose first thread has that index in its threadgroup. Of kernels with barriers, up to
// the first one.
using RunSimdgroup = void (*)(ThreadgroupState*, std::uint32_t first_thread);
// A simdgroup that waits at a barrier goes on by calling what its frame begins with.
using ResumeSimdgroup = void (*)(void* frame);
inline constexpr std::uint32_t frame_alignment = 128;

// void (): a threadgroup barrier on its way to split_at_barriers.h.
inline constexpr std::string_view barrier_name = "metalloid_simdgroup_waits";
// void (): where other simdgroups get their turn (take_turns.h).
inline constexpr std::string_view yield_name = "metalloid_simdgroup_yields";

// What a simdgroup that returned says of itself, at ThreadgroupState::lane.
enum class SimdgroupStop : std::uint64_t { end = 0, barrier = 1, turn = 2 };

// Generated: cpu::engine_facts_name.
struct SimdgroupFacts {
  std::uint32_t frame_bytes;  // per simdgroup
  std::uint32_t lanes;        // that run in step, 16 or 32: what the runner takes for a simdgroup
};

}  // namespace metalloid::engines::simd
