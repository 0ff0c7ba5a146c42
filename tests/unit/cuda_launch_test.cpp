// How dispatches become launches on GPUs. Needs none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "engines/cuda/run/launch_shape.h"

namespace metalloid {
namespace cuda_launch_test {

using engines::DispatchPlan;
using engines::cuda::is_for_joined_threads;
using engines::cuda::LaunchShape;
using engines::cuda::shape_of;
using testing::ElementsAre;

constexpr std::uint32_t most = 1024;

DispatchPlan plan_of(Size grid, Size threads) {
  const auto groups = [](std::uint32_t a, std::uint32_t b) { return a / b + (a % b != 0 ? 1 : 0); };
  DispatchPlan plan;
  plan.threads_per_grid = grid;
  plan.threads_per_threadgroup = threads;
  plan.threadgroups_per_grid = {groups(grid.x, threads.x), groups(grid.y, threads.y), groups(grid.z, threads.z)};
  return plan;
}

TEST(CudaLaunch, ThreadgroupsAreBlocks) {
  const LaunchShape shape = shape_of(plan_of({1000, 7, 2}, {32, 4, 1}), 0, most);
  EXPECT_THAT(shape.block, ElementsAre(32, 4, 1));
  EXPECT_THAT(shape.blocks, ElementsAre(32, 2, 2));
  EXPECT_FALSE(shape.is_folded);
  EXPECT_FALSE(shape.is_plain);
}

TEST(CudaLaunch, PlainOnesHaveNothingToCompute) {
  EXPECT_TRUE(shape_of(plan_of({1024, 8, 2}, {32, 4, 1}), 0, most).is_plain);
  EXPECT_FALSE(shape_of(plan_of({1024, 7, 2}, {32, 4, 1}), 0, most).is_plain);
  EXPECT_FALSE(shape_of(plan_of({2, 2, 128}, {2, 2, 128}), 0, most).is_plain);  // folded
  EXPECT_FALSE(shape_of(plan_of({1, 1, 70000}, {1, 1, 1}), 0, most).is_plain);  // in pieces
}

TEST(CudaLaunch, DeepThreadgroupsAreFolded) {
  const LaunchShape shape = shape_of(plan_of({2, 3, 256}, {2, 3, 128}), 0, most);
  EXPECT_THAT(shape.block, ElementsAre(2, 384, 1));
  EXPECT_TRUE(shape.is_folded);
}

TEST(CudaLaunch, JoinedThreadsHaveBlocksOfTheirOwn) {
  const LaunchShape shape = shape_of(plan_of({1 << 20, 1, 1}, {32, 1, 1}), 4, most);
  EXPECT_THAT(shape.block, ElementsAre(256, 1, 1));
  EXPECT_THAT(shape.blocks, ElementsAre(1024, 1, 1));
}

TEST(CudaLaunch, JoinedThreadsOfShortRowsLieOverSeveral) {
  const LaunchShape shape = shape_of(plan_of({30, 1000, 3}, {30, 1, 1}), 4, most);
  EXPECT_THAT(shape.block, ElementsAre(8, 32, 1));
  EXPECT_THAT(shape.blocks, ElementsAre(1, 32, 3));
}

TEST(CudaLaunch, JoinedThreadsStayAsHighAsTheirThreadgroups) {
  const LaunchShape shape = shape_of(plan_of({4096, 4096, 1}, {16, 16, 1}), 4, most);
  EXPECT_THAT(shape.block, ElementsAre(16, 16, 1));
  EXPECT_THAT(shape.blocks, ElementsAre(64, 256, 1));
}

TEST(CudaLaunch, EveryThreadOfAGridIsInABlock) {
  for (const std::uint32_t joined : {2U, 4U, 8U}) {
    for (const std::uint32_t x : {1U, 5U, 255U, 1025U, 70001U}) {
      for (const std::uint32_t y : {1U, 3U, 300U}) {
        for (const std::uint32_t most_threads : {64U, 100U, 1024U}) {
          const LaunchShape shape = shape_of(plan_of({x, y, 2}, {8, 8, 1}), joined, most_threads);
          EXPECT_GE(std::uint64_t{shape.block[0]} * shape.blocks[0] * joined, x);
          EXPECT_GE(std::uint64_t{shape.block[1]} * shape.blocks[1], y);
          EXPECT_EQ(shape.block[2] * shape.blocks[2], 2U);
          EXPECT_LE(shape.block[0] * shape.block[1], most_threads);
          EXPECT_EQ(shape.block[0] * shape.block[1] % 32, 0U);
          EXPECT_TRUE(std::has_single_bit(shape.block[0]));
        }
      }
    }
  }
}

TEST(CudaLaunch, GridsAreTooLargeForJoinedThreads) {
  EXPECT_TRUE(is_for_joined_threads(plan_of({1 << 30, 1, 1}, {256, 1, 1}), 4, most));
  EXPECT_FALSE(is_for_joined_threads(plan_of({0xffffffff, 1, 1}, {256, 1, 1}), 4, most));
  EXPECT_FALSE(is_for_joined_threads(plan_of({4, 1, 1 << 20}, {4, 1, 1}), 4, most));
  EXPECT_FALSE(is_for_joined_threads(plan_of({4096, 1 << 30, 1}, {256, 1, 1}), 4, most));
}

}  // namespace cuda_launch_test
}  // namespace metalloid
