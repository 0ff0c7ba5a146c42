#include "engines/cpu_shared/run/threadgroup_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace metalloid::threadgroup_queue_test {
namespace {

using engines::cpu::ThreadgroupQueue;

constexpr std::uint64_t any_number = ~std::uint64_t{0};

TEST(ThreadgroupQueue, WorkersTakeTheirPartInOrderAndThenTheEndsOfOthers) {
  ThreadgroupQueue queue(1000, 2, /*in_order=*/false);
  std::uint64_t next = 500;
  while (next < 1000) {
    const auto piece = queue.take(1, any_number);
    ASSERT_EQ(piece.begin, next);
    ASSERT_GT(piece.end, piece.begin);
    next = piece.end;
  }
  std::uint64_t end = 500;
  while (end > 0) {
    const auto piece = queue.take(1, any_number);
    ASSERT_EQ(piece.end, end);
    ASSERT_LT(piece.begin, piece.end);
    end = piece.begin;
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.take(0, any_number).empty());
}

TEST(ThreadgroupQueue, PiecesAreNoLargerThanAsked) {
  ThreadgroupQueue queue(1000, 2, /*in_order=*/false);
  const auto piece = queue.take(0, 3);
  EXPECT_EQ(piece.begin, 0u);
  EXPECT_EQ(piece.end, 3u);
}

TEST(ThreadgroupQueue, InOrderNoPieceComesBeforeAnEarlierOne) {
  ThreadgroupQueue queue(1000, 4, /*in_order=*/true);
  std::uint64_t next = 0;
  for (unsigned worker = 0; next < 1000; ++worker) {
    const auto piece = queue.take(worker % 4, any_number);
    ASSERT_EQ(piece.begin, next);
    next = piece.end;
  }
  EXPECT_TRUE(queue.empty());
}

TEST(ThreadgroupQueue, AllAreTakenOnceByManyThreads) {
  for (const std::uint64_t count : {0, 1, 3, 8, 100000}) {
    constexpr unsigned workers = 5;
    ThreadgroupQueue queue(count, workers, /*in_order=*/false);
    std::vector<std::atomic<int>> taken(count);
    std::vector<std::thread> threads;
    for (unsigned worker = 0; worker < workers; ++worker) {
      threads.emplace_back([&, worker] {
        for (auto piece = queue.take(worker, any_number); !piece.empty(); piece = queue.take(worker, any_number)) {
          for (std::uint64_t i = piece.begin; i < piece.end; ++i) ++taken[i];
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::atomic<int>& times : taken) ASSERT_EQ(times, 1);
    EXPECT_TRUE(queue.empty());
  }
}

TEST(ThreadgroupQueue, GridsMayHaveMoreThreadgroupsThanAWordCounts) {
  const std::uint64_t count = (std::uint64_t{1} << 33) + 5;
  ThreadgroupQueue queue(count, 3, /*in_order=*/false);
  std::uint64_t all = 0, end = 0;
  for (auto piece = queue.take(2, any_number); !piece.empty(); piece = queue.take(2, any_number)) {
    all += piece.end - piece.begin;
    end = std::max(end, piece.end);
  }
  EXPECT_EQ(all, count);
  EXPECT_EQ(end, count);
}

}  // namespace
}  // namespace metalloid::threadgroup_queue_test
