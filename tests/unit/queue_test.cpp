// Queues that are used from inside their own work, and by forked children.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace queue_test {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "no error";
}

TEST(Queue, MayLoseItsLastOwnerInItsOwnWork) {
  auto queue = std::make_shared<Queue>(Device::cpu());
  std::promise<void> begin;
  std::promise<int> after;
  queue->submit([queue, ready = begin.get_future().share()]() { ready.wait(); });
  queue->submit([&after] { after.set_value(7); });
  queue.reset();
  begin.set_value();
  EXPECT_EQ(after.get_future().get(), 7);
}

TEST(Queue, DoesNotWaitForItself) {
  Queue queue(Device::cpu()), other(Device::cpu());
  std::string own, later, foreign;
  std::optional<Submission> next;
  std::promise<void> begin;
  auto ready = begin.get_future().share();
  const Submission first = queue.submit([&] {
    ready.wait();
    own = message_of([&] { queue.wait(); });
    later = message_of([&] { next->wait(); });
    foreign = message_of([&] { other.submit([] {}).wait(); });
  });
  next = queue.submit([&] { first.wait(); });
  begin.set_value();
  queue.wait();
  EXPECT_THAT(own, ::testing::HasSubstr("wait for itself"));
  EXPECT_THAT(later, ::testing::HasSubstr("same queue"));
  EXPECT_EQ(foreign, "no error");
}

TEST(Queue, HandsOnWhatWorkThrows) {
  Queue queue(Device::cpu());
  const Submission failed = queue.submit([] { throw std::runtime_error("no"); });
  EXPECT_THROW(failed.wait(), std::runtime_error);
  EXPECT_THROW(failed.wait(), std::runtime_error);
  EXPECT_THROW(queue.wait(), std::runtime_error);
  queue.wait();
}

TEST(Queue, OfTheParentMayBeDestroyedInAForkedChild) {
  auto queue = std::make_unique<Queue>(Device::cpu());
  std::promise<void> begin;
  auto ready = begin.get_future().share();
  const Submission pending = queue->submit([ready] { ready.wait(); });
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(1000);
    const bool told = message_of([&] { queue->wait(); }).find("fork") != std::string::npos &&
                      message_of([&] { pending.wait(); }).find("fork") != std::string::npos &&
                      message_of([&] { queue->submit([] {}); }).find("fork") != std::string::npos;
    queue.reset();
    Queue own(Device::cpu());
    own.submit([] {}).wait();
    ::_exit(told ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  begin.set_value();
  queue->wait();
}

}  // namespace queue_test
}  // namespace metalloid
