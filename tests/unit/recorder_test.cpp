// The record of what ran and what failed.
#include "metalloid/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace recorder_test {

constexpr std::string_view source = "kernel void fill(device int* x, uint i [[thread_position_in_grid]]) { x[i] = 7; }";

class RecorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    record(true);
    take_events();
  }
  void TearDown() override {
    record(false);
    take_events();
  }
};

TEST_F(RecorderTest, KeepsDispatchesWithTheirSource) {
  const Kernel fill = Device::cpu().make_library(source).kernel("fill");
  Buffer x(20);
  run(fill, Dispatch().buffer(0, x).threads({5}, {4}));
  Queue queue(Device::cpu());
  queue.submit(fill, Dispatch().buffer(0, x).threadgroups({1}, {2})).wait();
  const Events taken = take_events();
  EXPECT_EQ(taken.dispatches, 2u);
  ASSERT_EQ(taken.events.size(), 2u);
  const Event& first = taken.events[0];
  EXPECT_EQ(first.kernel, "fill");
  EXPECT_EQ(first.device, "cpu");
  EXPECT_EQ(first.source->name, "program_source");
  EXPECT_EQ(first.source->text, source);
  EXPECT_EQ(first.grid, Size{5});
  EXPECT_EQ(first.threads_per_threadgroup, Size{4});
  EXPECT_TRUE(first.grid_counts_threads && !taken.events[1].grid_counts_threads);
  EXPECT_FALSE(first.error);
  EXPECT_TRUE(take_events().events.empty());
}

TEST_F(RecorderTest, KeepsFailures) {
  EXPECT_THROW(Device::cpu().make_library("kernel void wrong( { }"), Error);
  const Library library = Device::cpu().make_library(source);
  EXPECT_THROW(library.kernel("full"), Error);
  EXPECT_THROW(run(library.kernel("fill"), Dispatch().threads({5}, {4})), Error);
  const Events taken = take_events();
  EXPECT_EQ(taken.dispatches, 1u);
  ASSERT_EQ(taken.events.size(), 3u);
  EXPECT_EQ(taken.events[0].kind, Event::Kind::library);
  EXPECT_EQ(taken.events[0].error, ErrorCode::compile_error);
  EXPECT_THAT(taken.events[0].message, ::testing::StartsWith("program_source:1:"));
  EXPECT_EQ(taken.events[1].kind, Event::Kind::kernel);
  EXPECT_EQ(taken.events[1].error, ErrorCode::unknown_function);
  EXPECT_EQ(taken.events[2].kind, Event::Kind::dispatch);
  EXPECT_EQ(taken.events[2].error, ErrorCode::invalid_argument);
}

TEST_F(RecorderTest, CountsThePackagesOwnOperatorsApart) {
  const std::string own = "#line 1 \"/x/torch_mps/operators/kernels/Fill.metal\"\n" + std::string(source);
  const Kernel fill = Device::cpu().make_library(own).kernel("fill");
  Buffer x(20);
  for (int i = 0; i < 2; ++i) run(fill, Dispatch().buffer(0, x).threads({5}, {4}));
  EXPECT_THROW(run(fill, Dispatch().threads({5}, {4})), Error);
  const Events taken = take_events();
  EXPECT_EQ(taken.dispatches, 0u);
  ASSERT_EQ(taken.events.size(), 1u) << "what failed is told";
  EXPECT_THAT(take_operator_dispatches(), ::testing::ElementsAre(::testing::Pair("fill", 2u)));
  EXPECT_THAT(take_operator_dispatches(), ::testing::IsEmpty());
}

TEST_F(RecorderTest, ForgetsTheOldestAndKeepsNothingWhileOff) {
  const Kernel fill = Device::cpu().make_library(source).kernel("fill");
  Buffer x(4);
  for (int i = 0; i < 1003; ++i) run(fill, Dispatch().buffer(0, x).threads({1}, {1}));
  const Events taken = take_events();
  EXPECT_EQ(taken.dispatches, 1003u);
  EXPECT_EQ(taken.events.size(), 1000u);
  record(false);
  run(fill, Dispatch().buffer(0, x).threads({1}, {1}));
  EXPECT_EQ(take_events().dispatches, 0u);
}

}  // namespace recorder_test
}  // namespace metalloid
