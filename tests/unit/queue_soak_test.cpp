// Threads, queues, streams and events in each other's way. $METALLOID_SOAK_SECONDS says for how long; `make soak`
// builds it under ThreadSanitizer and runs it for minutes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace queue_soak_test {

constexpr std::size_t thread_count = 8, queue_count = 4;
constexpr std::uint32_t bound = 64;  // lists that one thread has under way

std::chrono::milliseconds duration() {
  const char* seconds = std::getenv("METALLOID_SOAK_SECONDS");
  return std::chrono::milliseconds(seconds ? std::atoi(seconds) * 1000 : 300);
}

class QueueSoak : public ::testing::TestWithParam<Device> {
 protected:
  struct Shared {
    Kernel add, astray;
    std::array<std::optional<Queue>, queue_count> queues;
    // One for each thread: where memory is copied, what two write into one buffer at once is lost.
    std::vector<Buffer> counts;
    std::atomic<std::uint64_t> handled{0}, expected_handled{0}, failed{0}, expected_failed{0};
    std::chrono::steady_clock::time_point end{};
  };

  // Each thread's lists are a chain: a list waits for the one before, whichever queue or stream that was on.
  static std::uint32_t work(Shared& shared, const Device& device, std::uint32_t number) {
    std::mt19937 random(number);
    Stream stream(device);
    const SharedEvent done;
    std::uint32_t lists = 0;
    const auto dispatch = [&] { return Dispatch().buffer(0, shared.counts[number]).threads({1}, {1}); };
    std::optional<CommandBuffer> last;
    for (; std::chrono::steady_clock::now() < shared.end; ++lists) {
      if (lists >= bound) done.wait(lists - bound + 1);
      const unsigned kind = random() % 16;
      if (kind < 4) {
        stream.wait(done, lists);
        stream.dispatch(shared.add, dispatch());
        stream.signal(done, lists + 1);
        continue;
      }
      CommandBuffer buffer = shared.queues[random() % queue_count]->command_buffer();
      if (kind == 4) buffer.enqueue();
      buffer.wait(done, lists);
      buffer.dispatch(shared.add, dispatch());
      if (kind == 5) buffer.call([] { std::this_thread::yield(); });
      if (kind == 6) {
        buffer.dispatch(shared.astray, dispatch());
        ++shared.expected_failed;
      }
      buffer.signal(done, lists + 1);
      if (kind < 9) {
        ++shared.expected_handled;
        buffer.on_completed([&](const CommandBuffer& self) {
          ++shared.handled;
          if (self.error()) ++shared.failed;
        });
      }
      buffer.commit();
      if (kind == 15 && last) last->wait_until_completed();
      if (kind == 14) stream.synchronize();
      last = std::move(buffer);
    }
    done.wait(lists);
    stream.synchronize();
    return lists;
  }
};

TEST_P(QueueSoak, EverythingIsDoneOnceAndInOrder) {
  const Device device = GetParam();
  const Library library = device.make_library(R"(
#include <metal_stdlib>
kernel void add(device metal::atomic_uint* count) { metal::atomic_fetch_add_explicit(count, 1u, metal::memory_order_relaxed); }
kernel void astray(device uint* count) { count[100000] = 1; }
)");
  Shared shared{library.kernel("add"), library.kernel("astray"), {}, {}};
  for (std::size_t i = 0; i < thread_count; ++i) shared.counts.emplace_back(sizeof(std::uint32_t));
  for (auto& queue : shared.queues) queue.emplace(device);
  shared.end = std::chrono::steady_clock::now() + duration();
  std::array<std::uint32_t, thread_count> lists{};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] { lists[i] = work(shared, device, i); });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& queue : shared.queues) {
    try {
      queue->wait();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_bounds) << error.what();
    }
  }
  for (std::size_t i = 0; i < thread_count; ++i) {
    EXPECT_EQ(shared.counts[i].as<std::uint32_t>()[0], lists[i]) << "thread " << i;
    EXPECT_GT(lists[i], 0U);
  }
  EXPECT_EQ(shared.handled, shared.expected_handled);
  EXPECT_EQ(shared.failed, shared.expected_failed);
}

std::vector<Device> devices() {
  std::vector<Device> list;
  for (const Device& device : Device::choices()) {
    if (device.name() == "cpu" || device.name().starts_with("trial")) list.push_back(device);
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Devices, QueueSoak, ::testing::ValuesIn(devices()), [](const auto& test) {
  std::string name = test.param.name();
  std::ranges::replace(name, ':', '_');
  return name;
});

}  // namespace queue_soak_test
}  // namespace metalloid
