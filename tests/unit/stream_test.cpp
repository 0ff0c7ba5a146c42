// Streams: pieces of work in order, done at once where that is possible.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "metalloid/check.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace stream_test {

using ::testing::ElementsAre;

Kernel kernel_of(const Device& device, const std::string& body) {
  return device.make_library("kernel void test(device int* x, uint i [[thread_position_in_grid]]) { " + body + " }")
      .kernel("test");
}

Dispatch over(const Buffer& buffer, std::uint32_t threads = 1) {
  return Dispatch().buffer(0, buffer).threads({threads}, {1});
}

class Streams : public ::testing::TestWithParam<Device> {
 protected:
  const Device device = GetParam();
  Stream stream{device};
};

TEST_P(Streams, DoTheirWorkInOrder) {
  const Buffer x(16);
  const Kernel add = kernel_of(device, "x[i] += 1;"), twice = kernel_of(device, "x[i] *= 2;");
  for (int turn = 0; turn < 3; ++turn) {
    stream.dispatch(add, over(x, 4));
    stream.call([&] { x.as<int>()[1] += 1; });
    stream.dispatch(twice, over(x, 4));
  }
  stream.synchronize();
  EXPECT_TRUE(stream.is_idle());
  EXPECT_THAT(x.as<int>(), ElementsAre(14, 28, 14, 14));
}

TEST_P(Streams, WaitForEvents) {
  const Buffer x(4);
  const SharedEvent begin, end;
  stream.wait(begin, 1);
  stream.dispatch(kernel_of(device, "x[i] += 1;"), over(x));
  stream.signal(end, 1);
  EXPECT_FALSE(stream.is_idle());
  EXPECT_EQ(x.as<int>()[0], 0);
  EXPECT_EQ(end.value(), 0u);
  x.as<int>()[0] = 41;
  begin.signal(1);
  EXPECT_TRUE(end.wait(1));
  EXPECT_EQ(x.as<int>()[0], 42);
  stream.synchronize();
  EXPECT_TRUE(stream.is_idle());
  stream.wait(begin, 1);
  EXPECT_TRUE(stream.is_idle());
}

TEST_P(Streams, OrderEachOther) {
  Stream other(device);
  const Buffer x(4);
  const Kernel add = kernel_of(device, "x[i] += 1;"), twice = kernel_of(device, "x[i] *= 2;");
  const SharedEvent added, doubled;
  for (std::uint64_t turn = 1; turn <= 10; ++turn) {
    stream.wait(doubled, turn - 1);
    stream.dispatch(add, over(x));
    stream.signal(added, turn);
    other.wait(added, turn);
    other.dispatch(twice, over(x));
    other.signal(doubled, turn);
  }
  other.synchronize();
  EXPECT_EQ(x.as<int>()[0], 2046);
}

TEST_P(Streams, ThrowWhatFailedAtTheCallOrLater) {
  const Buffer x(4);
  const auto work = [&] {
    stream.dispatch(kernel_of(device, "x[i + 1000] = 1;"), over(x));
    stream.synchronize();
  };
  try {
    work();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_bounds);
  }
  stream.dispatch(kernel_of(device, "x[i] = 1;"), over(x));
  stream.synchronize();
  EXPECT_EQ(x.as<int>()[0], 1);
  EXPECT_THROW(stream.dispatch(kernel_of(device, "x[i] = 1;"), Dispatch().threads({1}, {1})), Error);
}

TEST_P(Streams, KeepTheMemoryOfTheirWork) {
  const SharedEvent begin;
  stream.wait(begin, 1);
  bool is_released = false;
  auto memory = std::make_unique<int>(0);
  {
    std::shared_ptr<void> owner(memory.get(), [&](void*) { is_released = true; });
    stream.dispatch(kernel_of(device, "x[i] = 5;"), over(Buffer::wrap(memory.get(), 4, std::move(owner))));
  }
  EXPECT_FALSE(is_released);
  begin.signal(1);
  stream.synchronize();
  EXPECT_TRUE(is_released);
  EXPECT_EQ(*memory, 5);
}

// Nobody waits for the stream or asks it.
TEST_P(Streams, LetGoOfMemoryOnTheirOwn) {
  std::atomic<int> released = 0;
  int memory = 0;
  constexpr int count = 40;
  const Kernel add = kernel_of(device, "x[i] += 1;");
  for (int turn = 0; turn < count; ++turn) {
    std::shared_ptr<void> owner(&memory, [&](void*) { ++released; });
    stream.dispatch(add, over(Buffer::wrap(&memory, 4, std::move(owner))));
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (released != count && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(released, count);
  EXPECT_EQ(memory, count);
}

TEST_P(Streams, TakeKernelsOfOtherDevices) {
  const Buffer x(4);
  const Kernel add = kernel_of(device, "x[i] += 1;");
  const Kernel other = kernel_of(Device::named("reference"), "x[i] *= 10;");
  for (int turn = 0; turn < 3; ++turn) {
    stream.dispatch(add, over(x));
    stream.dispatch(other, over(x));
  }
  stream.synchronize();
  EXPECT_EQ(x.as<int>()[0], 1110);
}

TEST_P(Streams, AreCheckedAtOnce) {
  CheckSession session;
  const Buffer x(4);
  stream.dispatch(kernel_of(device, "x[i] = 1;"), over(x));
  EXPECT_EQ(x.as<int>()[0], 1);
  EXPECT_TRUE(stream.is_idle());
}

TEST_P(Streams, TakeWorkOfSeveralThreads) {
  const Buffer x(4);
  const Kernel add = kernel_of(
      device, "metal::atomic_fetch_add_explicit((device metal::atomic_int*)x + i, 1, metal::memory_order_relaxed);");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 20; ++turn) stream.dispatch(add, over(x));
    });
  }
  for (std::thread& thread : threads) thread.join();
  stream.synchronize();
  EXPECT_EQ(x.as<int>()[0], 80);
}

std::vector<Device> devices() {
  std::vector<Device> list = Device::all();
  list.push_back(Device::named("trial_unified"));
  return list;
}

INSTANTIATE_TEST_SUITE_P(Devices, Streams, ::testing::ValuesIn(devices()),
                         [](const auto& test) { return test.param.name(); });

}  // namespace stream_test
}  // namespace metalloid
