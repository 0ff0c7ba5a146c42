#include "engines/cuda/run/launch_shape.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace metalloid::engines::cuda {
namespace {

using Triple = std::array<std::uint32_t, 3>;

// CUDA's limit of a block.
constexpr std::uint32_t most_deep = 64;
constexpr std::uint32_t lanes = 32;

std::uint32_t divided(std::uint32_t a, std::uint32_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// Powers of two, and whole warps: join_threads counts on both. As flat as the grid allows, for rows are what accesses
// are joined along. Threadgroups of several rows mean that those read the same memory, and stay as high.
Triple joined_block(const Triple& grid, const Triple& threads, std::uint32_t joined_threads,
                    std::uint32_t most_threads) {
  const std::uint32_t most = std::bit_floor(std::min(good_block_threads, most_threads));
  const std::uint32_t wanted_rows = threads[2] == 1 ? std::bit_floor(std::min(threads[1], most)) : 1;
  const std::uint32_t x = std::min(most / wanted_rows, std::bit_ceil(divided(grid[0], joined_threads)));
  const std::uint32_t y = std::min(most / x, std::bit_ceil(grid[1]));
  return {x, std::max(y, lanes / x), 1};
}

}  // namespace

LaunchShape shape_of(const DispatchPlan& plan, std::uint32_t joined_threads, std::uint32_t most_threads) {
  const Size &grid = plan.threads_per_grid, &threads = plan.threads_per_threadgroup;
  const Size& groups = plan.threadgroups_per_grid;
  LaunchShape shape;
  if (joined_threads == 0) {
    shape.blocks = {groups.x, groups.y, groups.z};
    shape.block = {threads.x, threads.y, threads.z};
    // Metal's threadgroups may be deeper than CUDA's blocks.
    shape.is_folded = threads.z > most_deep;
    if (shape.is_folded) shape.block = {threads.x, threads.y * threads.z, 1};
    const bool is_whole = grid.x % threads.x == 0 && grid.y % threads.y == 0 && grid.z % threads.z == 0;
    const bool is_one = shape.blocks[1] <= most_blocks[1] && shape.blocks[2] <= most_blocks[2];
    shape.is_plain = is_whole && is_one && shape.blocks[0] <= most_blocks[0] && !shape.is_folded;
    return shape;
  }
  shape.block = joined_block({grid.x, grid.y, grid.z}, {threads.x, threads.y, threads.z}, joined_threads, most_threads);
  shape.blocks = {divided(divided(grid.x, joined_threads), shape.block[0]), divided(grid.y, shape.block[1]), grid.z};
  return shape;
}

bool is_for_joined_threads(const DispatchPlan& plan, std::uint32_t joined_threads, std::uint32_t most_threads) {
  const Size& grid = plan.threads_per_grid;
  if (grid.x > most_joined_x || grid.y > most_joined_x || grid.z > most_joined_x) return false;
  const LaunchShape shape = shape_of(plan, joined_threads, most_threads);
  return shape.blocks[1] <= most_blocks[1] && shape.blocks[2] <= most_blocks[2];
}

}  // namespace metalloid::engines::cuda
