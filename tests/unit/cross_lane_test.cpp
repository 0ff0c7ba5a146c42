// The arithmetic of operations across lanes, and their names.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "engines/reference/cross_lane.h"
#include "ir/operations.h"

namespace metalloid::engines::reference {
namespace cross_lane_test {

using ir::CrossLane;
using ir::LaneGroup;
using ir::LaneType;
using Values = std::array<std::uint64_t, 32>;

constexpr std::uint32_t all = ~0u;

Values run(CrossLane operation, LaneType type, std::uint32_t active, Values values,
           std::array<std::uint64_t, 32> operands = {}, LaneGroup group = LaneGroup::simd) {
  run_cross_lane({group, operation, type}, active, values, operands);
  return values;
}

Values numbers() {
  Values values;
  for (unsigned i = 0; i < 32; ++i) values[i] = i + 1;
  return values;
}

Values floats(float (*value)(unsigned lane)) {
  Values values;
  for (unsigned i = 0; i < 32; ++i) values[i] = std::bit_cast<std::uint32_t>(value(i));
  return values;
}

float as_float(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

std::array<std::uint64_t, 32> same(std::uint32_t operand) {
  std::array<std::uint64_t, 32> operands;
  operands.fill(operand);
  return operands;
}

TEST(OperationNames, AreTakenApart) {
  auto sum = ir::parse_cross_lane("metalloid.simd.sum.f32");
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->operation, CrossLane::sum);
  EXPECT_EQ(sum->type, LaneType::f32);
  auto scan = ir::parse_cross_lane("metalloid.quad.prefix_exclusive_product.u64");
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->group, LaneGroup::quad);
  EXPECT_TRUE(ir::parse_cross_lane("metalloid.simd.ballot"));
  EXPECT_TRUE(ir::parse_cross_lane("metalloid.simd.shuffle_xor.b64"));
  for (auto name :
       {"metalloid.thread_index", "metalloid.simd.sum", "metalloid.simd.sum.b32", "metalloid.simd.shuffle.f32",
        "metalloid.simd.ballot.u32", "metalloid.warp.sum.f32", "sum.f32", ""}) {
    EXPECT_FALSE(ir::parse_cross_lane(name)) << name;
  }
}

TEST(CrossLaneArithmetic, ReducesOnlyActiveLanes) {
  EXPECT_EQ(run(CrossLane::sum, LaneType::u32, all, numbers())[7], 32u * 33 / 2);
  Values odd = run(CrossLane::sum, LaneType::u32, 0x55555555, numbers());
  EXPECT_EQ(odd[0], 256u);
  EXPECT_EQ(odd[1], 2u) << "an inactive lane keeps its value";
  EXPECT_EQ(run(CrossLane::min, LaneType::u32, 0xfffffff0, numbers())[31], 5u);
  EXPECT_EQ(run(CrossLane::max, LaneType::u32, 0x0000000f, numbers())[0], 4u);
  EXPECT_EQ(run(CrossLane::product, LaneType::u32, 0x1f, numbers())[0], 120u);
  EXPECT_EQ(run(CrossLane::bit_and, LaneType::u32, 0x6, numbers())[1], 2u);
  EXPECT_EQ(run(CrossLane::bit_or, LaneType::u64, 0x6, numbers())[1], 3u);
  EXPECT_EQ(run(CrossLane::bit_xor, LaneType::u32, 0x6, numbers())[1], 1u);
}

TEST(CrossLaneArithmetic, KnowsSigns) {
  Values values{};
  values[0] = static_cast<std::uint32_t>(-5);
  values[1] = 3;
  EXPECT_EQ(run(CrossLane::min, LaneType::i32, 3, values)[1], static_cast<std::uint32_t>(-5));
  EXPECT_EQ(run(CrossLane::min, LaneType::u32, 3, values)[1], 3u);
  values[0] = static_cast<std::uint64_t>(std::int64_t{-5});
  EXPECT_EQ(run(CrossLane::max, LaneType::i64, 3, values)[0], 3u);
}

TEST(CrossLaneArithmetic, HandlesFloats) {
  EXPECT_EQ(as_float(run(CrossLane::sum, LaneType::f32, all, floats([](unsigned i) { return float(i); }))[3]), 496);
  Values nan = floats([](unsigned i) { return i == 2 ? std::numeric_limits<float>::quiet_NaN() : float(i) - 10; });
  EXPECT_EQ(as_float(run(CrossLane::max, LaneType::f32, all, nan)[0]), 21);
  EXPECT_EQ(as_float(run(CrossLane::min, LaneType::f32, all, nan)[0]), -10);
  EXPECT_TRUE(std::isnan(as_float(run(CrossLane::min, LaneType::f32, 4, nan)[2]))) << "only NaN is there";
  EXPECT_TRUE(std::isnan(as_float(run(CrossLane::sum, LaneType::f32, all, nan)[0])));
  Values zero = floats([](unsigned) { return -0.0f; });
  EXPECT_TRUE(std::signbit(as_float(run(CrossLane::sum, LaneType::f32, 3, zero)[0])));
}

TEST(CrossLaneArithmetic, RoundsHalvesAtEachStep) {
  Values values;
  values.fill(0x3c00);                                                     // 1
  EXPECT_EQ(run(CrossLane::sum, LaneType::f16, all, values)[0], 0x5000u);  // 32
  values[0] = 0x6800;  // 2048: adding 1 rounds to even, back to 2048
  EXPECT_EQ(run(CrossLane::sum, LaneType::f16, 3, values)[0], 0x6800u);
  values[0] = 0x7bff;  // 65504
  values[1] = 0x7bff;
  EXPECT_EQ(run(CrossLane::sum, LaneType::f16, 3, values)[0], 0x7c00u) << "infinity";
  values[0] = 0x0001;  // smallest subnormal
  values[1] = 0x0002;
  EXPECT_EQ(run(CrossLane::sum, LaneType::f16, 3, values)[0], 0x0003u);
  EXPECT_EQ(run(CrossLane::max, LaneType::f16, 3, values)[0], 0x0002u);
}

TEST(CrossLaneArithmetic, Scans) {
  Values inclusive = run(CrossLane::prefix_inclusive_sum, LaneType::u32, all, numbers());
  Values exclusive = run(CrossLane::prefix_exclusive_sum, LaneType::u32, all, numbers());
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(inclusive[i], (i + 1) * (i + 2) / 2);
    EXPECT_EQ(exclusive[i], i * (i + 1) / 2);
  }
  Values gaps = run(CrossLane::prefix_exclusive_sum, LaneType::u32, 0b10101, numbers());
  EXPECT_EQ(gaps[0], 0u);
  EXPECT_EQ(gaps[2], 1u);
  EXPECT_EQ(gaps[4], 4u);
  EXPECT_EQ(run(CrossLane::prefix_inclusive_product, LaneType::u32, 0xf, numbers())[3], 24u);
  EXPECT_EQ(run(CrossLane::prefix_exclusive_product, LaneType::u32, 0xf, numbers())[3], 6u);
}

TEST(CrossLaneArithmetic, Permutes) {
  auto lane = [](CrossLane operation, unsigned lane, std::uint32_t operand, std::uint32_t active = all) {
    return run(operation, LaneType::b32, active, numbers(), same(operand))[lane] - 1;
  };
  EXPECT_EQ(lane(CrossLane::broadcast, 9, 5), 5u);
  EXPECT_EQ(lane(CrossLane::shuffle, 9, 31), 31u);
  EXPECT_EQ(lane(CrossLane::shuffle, 9, 32), 9u) << "no such lane: its own value";
  EXPECT_EQ(lane(CrossLane::shuffle, 9, 4, 0x200), 9u) << "an inactive source: its own value";
  EXPECT_EQ(lane(CrossLane::shuffle_up, 9, 2), 7u);
  EXPECT_EQ(lane(CrossLane::shuffle_up, 1, 2), 1u);
  EXPECT_EQ(lane(CrossLane::shuffle_down, 9, 2), 11u);
  EXPECT_EQ(lane(CrossLane::shuffle_down, 31, 2), 31u);
  EXPECT_EQ(lane(CrossLane::shuffle_xor, 9, 3), 10u);
  EXPECT_EQ(lane(CrossLane::rotate_up, 1, 2), 31u);
  EXPECT_EQ(lane(CrossLane::rotate_down, 31, 2), 1u);
  EXPECT_EQ(lane(CrossLane::broadcast_first, 9, 0, 0xffffff00), 8u);
  Values wide = numbers();
  wide[5] = 0x123456789abcdef0;
  EXPECT_EQ(run(CrossLane::broadcast, LaneType::b64, all, wide, same(5))[0], 0x123456789abcdef0u);
}

TEST(CrossLaneArithmetic, StaysWithinQuads) {
  auto quad = [](CrossLane operation, unsigned lane, std::uint32_t operand) {
    return run(operation, LaneType::b32, all, numbers(), same(operand), LaneGroup::quad)[lane] - 1;
  };
  EXPECT_EQ(quad(CrossLane::broadcast, 9, 3), 11u);
  EXPECT_EQ(quad(CrossLane::broadcast, 9, 4), 9u);
  EXPECT_EQ(quad(CrossLane::shuffle_down, 11, 1), 11u);
  EXPECT_EQ(quad(CrossLane::rotate_down, 11, 1), 8u);
  EXPECT_EQ(run(CrossLane::sum, LaneType::u32, all, numbers(), {}, LaneGroup::quad)[5], 5u + 6 + 7 + 8);
  EXPECT_EQ(run(CrossLane::prefix_inclusive_sum, LaneType::u32, all, numbers(), {}, LaneGroup::quad)[6], 5u + 6 + 7);
}

TEST(CrossLaneArithmetic, Votes) {
  Values votes{};
  for (unsigned i = 0; i < 32; i += 3) votes[i] = 1;
  EXPECT_EQ(run(CrossLane::ballot, LaneType::boolean, all, votes)[4], 0b01001001001001001001001001001001u);
  EXPECT_EQ(run(CrossLane::ballot, LaneType::boolean, 0xff, votes)[4], 0b01001001u);
  EXPECT_EQ(run(CrossLane::ballot, LaneType::boolean, all, votes, {}, LaneGroup::quad)[5], 0b0100u);
}

}  // namespace cross_lane_test
}  // namespace metalloid::engines::reference
