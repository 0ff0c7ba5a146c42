// How a dispatch becomes launches: blocks, and how many of them.
#pragma once

#include <array>
#include <cstdint>

#include "engines/cuda/kernel_abi.h"
#include "engines/engine.h"

namespace metalloid::engines::cuda {

struct LaunchShape {
  std::array<std::uint32_t, 3> block{};
  std::array<std::uint32_t, 3> blocks{};     // more than a launch may have where a block is a threadgroup
  bool is_folded = false, is_plain = false;  // as in LaunchHead
};

// Of a block that may have any size.
inline constexpr std::uint32_t good_block_threads = 256;

// CUDA's limits of a launch.
inline constexpr std::array<std::uint32_t, 3> most_blocks = {0x7fffffff, 0xffff, 0xffff};

// A block is a threadgroup; or, with joined threads, as large as runs well: then a threadgroup's shape says at most
// how the dispatch wants the grid covered. `most_threads`: of a block.
LaunchShape shape_of(const DispatchPlan& plan, std::uint32_t joined_threads, std::uint32_t most_threads);

// Whether code with joined threads can count on what it does: numbers that do not wrap, and one launch.
bool is_for_joined_threads(const DispatchPlan& plan, std::uint32_t joined_threads, std::uint32_t most_threads);

}  // namespace metalloid::engines::cuda
