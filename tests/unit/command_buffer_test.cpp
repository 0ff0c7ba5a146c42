// Command buffers: recorded first, run in their queue's order, told of when they are done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "metalloid/metalloid.h"
#include "metalloid/recorder.h"

namespace metalloid {
namespace command_buffer_test {

using ::testing::ElementsAre;
using Status = CommandBuffer::Status;

Kernel kernel_of(const Device& device, const std::string& body) {
  return device.make_library("kernel void test(device int* x, uint i [[thread_position_in_grid]]) { " + body + " }")
      .kernel("test");
}

Dispatch over(const Buffer& buffer, std::uint32_t threads = 1) {
  return Dispatch().buffer(0, buffer).threads({threads}, {1});
}

class CommandBuffers : public ::testing::TestWithParam<Device> {
 protected:
  const Device device = GetParam();
  Queue queue{device};
};

TEST_P(CommandBuffers, RunNothingBeforeTheyAreCommitted) {
  const Buffer x(16);
  const Kernel add = kernel_of(device, "x[i] += 1;");
  CommandBuffer buffer = queue.command_buffer();
  buffer.dispatch(add, over(x, 4));
  buffer.dispatch(add, over(x, 4));
  EXPECT_EQ(buffer.status(), Status::not_enqueued);
  queue.wait();
  EXPECT_THAT(x.as<int>(), ElementsAre(0, 0, 0, 0));
  buffer.commit();
  buffer.wait_until_completed();
  EXPECT_EQ(buffer.status(), Status::completed);
  EXPECT_FALSE(buffer.error());
  EXPECT_THAT(x.as<int>(), ElementsAre(2, 2, 2, 2));
  EXPECT_LE(buffer.times().scheduled, buffer.times().begin);
  EXPECT_LT(buffer.times().begin, buffer.times().end);
}

TEST_P(CommandBuffers, CopyAndFillBetweenKernels) {
  const Buffer x(16), y(device, 16);
  CommandBuffer buffer = queue.command_buffer();
  buffer.fill(x, 4, 8, std::byte{1});
  buffer.dispatch(kernel_of(device, "x[i] *= 2;"), over(x, 4));
  buffer.copy(x, 4, y, 0, 8);
  buffer.fill(y, 8, 4, std::byte{255});
  buffer.commit();
  buffer.wait_until_completed();
  std::vector<int> read(4);
  y.read(0, std::as_writable_bytes(std::span(read)));
  EXPECT_THAT(read, ElementsAre(0x02020202, 0x02020202, -1, 0));
  EXPECT_THROW(queue.command_buffer().copy(x, 8, y, 0, 12), Error);
  EXPECT_THROW(queue.command_buffer().fill(x, 17, 0, std::byte{0}), Error);
}

TEST_P(CommandBuffers, RunInTheOrderInWhichTheyWereEnqueued) {
  std::vector<int> order;
  std::optional<CommandBuffer> first = queue.command_buffer(), dropped = queue.command_buffer();
  CommandBuffer second = queue.command_buffer();
  first->enqueue();
  dropped->enqueue();
  EXPECT_EQ(first->status(), Status::enqueued);
  second.call([&] { order.push_back(2); });
  second.commit();
  first->call([&] { order.push_back(1); });  // a place is kept for what is still recorded
  EXPECT_EQ(second.status(), Status::committed);
  first->commit();
  EXPECT_EQ(second.status(), Status::committed);  // behind one that is still recorded
  dropped.reset();                                // and never will be committed
  second.wait_until_completed();
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST_P(CommandBuffers, CheckArgumentsWhileTheyAreRecorded) {
  CommandBuffer buffer = queue.command_buffer();
  EXPECT_THROW(buffer.dispatch(kernel_of(device, "x[i] = 1;"), Dispatch().threads({1}, {1})), Error);
  buffer.commit();
  EXPECT_THROW(buffer.commit(), Error);
  EXPECT_THROW(buffer.call([] {}), Error);
  EXPECT_THROW(buffer.on_completed([](const CommandBuffer&) {}), Error);
}

TEST_P(CommandBuffers, TellWhatFailed) {
  const Buffer x(16);
  const SharedEvent event;
  CommandBuffer failing = queue.command_buffer(), next = queue.command_buffer();
  std::vector<Status> seen;
  failing.dispatch(kernel_of(device, "x[i + 1000] = 1;"), over(x));
  failing.call([] { ADD_FAILURE() << "behind a failure"; });
  failing.signal(event, 3);
  std::uint64_t signalled = 9;
  failing.on_completed([&](const CommandBuffer& buffer) {
    seen.push_back(buffer.status());
    signalled = event.value();
  });
  next.dispatch(kernel_of(device, "x[i] = 7;"), over(x));
  failing.commit();
  next.commit();
  failing.wait_until_completed();
  EXPECT_THAT(seen, ElementsAre(Status::failed));
  ASSERT_TRUE(failing.error());
  try {
    std::rethrow_exception(failing.error());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_bounds) << error.what();
  }
  EXPECT_EQ(signalled, 0u);
  EXPECT_EQ(event.value(), 3u);
  next.wait_until_completed();
  EXPECT_EQ(next.status(), Status::completed);
  EXPECT_EQ(x.as<int>()[0], 7);
  EXPECT_THROW(queue.wait(), Error);
}

TEST_P(CommandBuffers, TellTheRecorderWhenTheyAreDone) {
  const Buffer x(16);
  CommandBuffer buffer = queue.command_buffer();
  buffer.dispatch(kernel_of(device, "x[i] = 1;"), over(x));
  buffer.dispatch(kernel_of(device, "x[i + 1000] = 1;"), over(x));
  record(true);
  take_events();
  buffer.commit();
  buffer.wait_until_completed();
  const Events seen = take_events();
  record(false);
  ASSERT_EQ(seen.events.size(), 2u);
  EXPECT_FALSE(seen.events[0].error);
  EXPECT_EQ(seen.events[1].error, ErrorCode::out_of_bounds);
}

TEST_P(CommandBuffers, AreCompletedInOrder) {
  const Buffer x(4);
  const Kernel add = kernel_of(device, "x[i] += 1;");
  std::vector<int> seen;
  for (int i = 0; i < 30; ++i) {
    CommandBuffer buffer = queue.command_buffer();
    if (i % 3 != 0) buffer.dispatch(add, over(x));
    if (i % 5 == 0) buffer.call([] {});
    buffer.on_completed([&seen, i](const CommandBuffer&) { seen.push_back(i); });
    buffer.commit();
  }
  queue.wait();
  EXPECT_EQ(x.as<int>()[0], 20);
  EXPECT_EQ(seen.size(), 30u);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
}

TEST_P(CommandBuffers, CallHandlersInOrderOnAThreadOfTheirOwn) {
  std::vector<std::string> seen;
  std::thread::id work, handler;
  CommandBuffer buffer = queue.command_buffer();
  buffer.call([&] { work = std::this_thread::get_id(); });
  buffer.on_scheduled([&](const CommandBuffer&) { seen.push_back("scheduled"); });
  buffer.on_completed([&](const CommandBuffer& self) {
    handler = std::this_thread::get_id();
    self.wait_until_completed();  // does not wait for itself
    seen.push_back("completed");
    throw std::runtime_error("nobody sees this");
  });
  buffer.on_completed([&](const CommandBuffer&) { seen.push_back("at last"); });
  buffer.commit();
  buffer.wait_until_completed();
  EXPECT_THAT(seen, ElementsAre("scheduled", "completed", "at last"));
  EXPECT_NE(handler, work);
  EXPECT_NE(handler, std::this_thread::get_id());
  EXPECT_FALSE(buffer.error());
}

TEST_P(CommandBuffers, MayLetGoOfTheirQueueInAHandler) {
  auto own = std::make_unique<Queue>(device);
  std::promise<void> gone;
  CommandBuffer buffer = own->command_buffer();
  buffer.on_completed([&](const CommandBuffer&) {
    own.reset();
    gone.set_value();
  });
  buffer.commit();
  gone.get_future().wait();
  buffer.wait_until_completed();
}

INSTANTIATE_TEST_SUITE_P(Devices, CommandBuffers, ::testing::ValuesIn(Device::all()),
                         [](const auto& test) { return test.param.name(); });

TEST(SharedEvents, OrderTwoQueues) {
  const Device device = Device::cpu();
  Queue first(device), second(device);
  const Buffer x(4);
  const SharedEvent event;
  for (std::uint64_t turn = 0; turn < 20; ++turn) {
    // The wait is committed before its signal.
    CommandBuffer waiting = second.command_buffer(), signalling = first.command_buffer();
    waiting.wait(event, 2 * turn + 1);
    waiting.call([&] { x.as<int>()[0] *= 2; });
    waiting.signal(event, 2 * turn + 2);
    waiting.commit();
    signalling.wait(event, 2 * turn);
    signalling.call([&] { x.as<int>()[0] = x.as<int>()[0] % 1000 + 1; });
    signalling.signal(event, 2 * turn + 1);
    signalling.commit();
  }
  int expected = 0;
  for (int turn = 0; turn < 20; ++turn) expected = (expected % 1000 + 1) * 2;
  EXPECT_TRUE(event.wait(40));
  EXPECT_EQ(x.as<int>()[0], expected);
}

TEST(SharedEvents, AreSignalledByTheHost) {
  const SharedEvent event;
  Queue queue(Device::cpu());
  CommandBuffer buffer = queue.command_buffer();
  std::atomic<bool> ran{false};
  buffer.wait(event, 5);
  buffer.call([&] { ran = true; });
  buffer.commit();
  buffer.wait_until_scheduled();
  EXPECT_FALSE(event.wait(5, std::chrono::milliseconds(1)));
  event.signal(4);
  EXPECT_FALSE(ran);
  event.signal(6);
  buffer.wait_until_completed();
  EXPECT_TRUE(ran);
  EXPECT_EQ(event.value(), 6u);
  event.signal(2);
  EXPECT_EQ(event.value(), 2u);
}

TEST(SharedEvents, TellListeners) {
  const SharedEvent event;
  std::vector<std::uint64_t> seen;
  event.notify(2, [&](std::uint64_t value) { seen.push_back(value); });
  event.notify(9, [&](std::uint64_t value) { seen.push_back(100 + value); });
  event.signal(1);
  EXPECT_THAT(seen, ElementsAre());
  event.signal(3);
  event.notify(3, [&](std::uint64_t value) { seen.push_back(10 + value); });
  EXPECT_THAT(seen, ElementsAre(3, 13));
  event.signal(9);
  EXPECT_THAT(seen, ElementsAre(3, 13, 109));
}

TEST(SharedEvents, LetGoWhereKernelsAreInterrupted) {
  const SharedEvent event;
  Queue queue(Device::cpu());
  CommandBuffer buffer = queue.command_buffer();
  buffer.wait(event, 1);
  buffer.commit();
  buffer.wait_until_scheduled();
  while (buffer.status() < Status::completed) {  // scheduled, it may not wait yet
    interrupt_kernels();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(buffer.status(), Status::failed);
  EXPECT_THROW(queue.wait(), Error);
}

TEST(Queues, RunSideBySide) {
  const Device device = Device::cpu();
  Queue first(device), second(device);
  const SharedEvent here, there;
  CommandBuffer one = first.command_buffer(), other = second.command_buffer();
  // Each waits for the other in the middle.
  for (auto [buffer, mine, theirs] : {std::tuple(&one, &here, &there), std::tuple(&other, &there, &here)}) {
    buffer->signal(*mine, 1);
    buffer->wait(*theirs, 1);
    buffer->commit();
  }
  one.wait_until_completed();
  other.wait_until_completed();
  EXPECT_EQ(one.status(), Status::completed);
}

}  // namespace command_buffer_test
}  // namespace metalloid
