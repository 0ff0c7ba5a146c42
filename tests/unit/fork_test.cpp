// Processes that fork while other threads are at work: children find no locked mutex and can run kernels.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "metalloid/fast.h"
#include "metalloid/metalloid.h"
#include "support/fork_safe_mutex.h"

namespace metalloid {
namespace fork_test {

// Whether children that are forked while two threads do the work all succeed. A child that hangs is ended by a signal.
bool children_succeed(int count, const std::function<void()>& work, const std::function<bool()>& in_child) {
  std::atomic<bool> over{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 2; ++i) {
    busy.emplace_back([&] {
      while (!over) work();
    });
  }
  bool all_right = true;
  for (int i = 0; i < count && all_right; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(1000);
      ::_exit(in_child() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    all_right = status == 0;
  }
  over = true;
  for (std::thread& thread : busy) thread.join();
  return all_right;
}

TEST(Fork, LeavesMutexesFree) {
  static auto& mutex = *new support::ForkSafeMutex;
  static int whole[2] = {};
  const auto work = [] {
    std::lock_guard lock(mutex);
    ++whole[0];
    for (int i = 0; i < 1000; ++i) asm volatile("");
    ++whole[1];
  };
  EXPECT_TRUE(children_succeed(50, work, [] {
    std::lock_guard lock(mutex);
    return whole[0] == whole[1];
  }));
}

TEST(Fork, ChildrenRunKernelsThatTheParentRuns) {
  const char* source = "kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }";
  const Kernel kernel = Device::cpu().make_library(source).kernel("twice");
  const auto twice = [&] {
    constexpr std::uint32_t count = 10000;
    Buffer x(count * sizeof(float));
    x.as<float>()[count - 1] = 21;
    run(kernel, Dispatch().buffer(0, x).threads({count}, {32}));
    return x.as<float>()[count - 1] == 42;
  };
  EXPECT_TRUE(children_succeed(100, twice, twice));
}

// The parent's threads are nearly always compiling, through the objects that the children use.
TEST(Fork, ChildrenUseWhatTheParentIsCompilingFor) {
  const Device device = Device::cpu();
  const fast::MetalKernel kernel = fast::metal_kernel("fill", {}, {"x"}, "x[0] = N;");
  std::atomic<int> next{0};
  const auto compile = [&] {
    const int number = ++next;
    device.make_library(fmt::format("kernel void fill(device int* x) {{ x[0] = {}; }}", number)).kernel("fill");
    int result = 0;
    kernel.run({}, {fast::Array::wrap(&result, {1}, fast::Dtype::int32)}, {.template_arguments = {{"N", number}}});
    return result == number;
  };
  EXPECT_TRUE(children_succeed(20, compile, compile));
}

}  // namespace fork_test
}  // namespace metalloid
