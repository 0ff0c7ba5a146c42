// What a dispatch takes the host on a GPU: until the call returns, and until it is known to have ended.
//
//   build/bin/metalloid_launches
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string_view>

#include "metalloid/metalloid.h"

namespace {

using metalloid::Dispatch;
using metalloid::Kernel;
using Clock = std::chrono::steady_clock;

constexpr int rounds = 15, calls = 1000;

double microseconds(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::micro>(end - begin).count();
}

// The least of all rounds.
void measure(std::string_view what, int count, const std::function<void()>& call, const std::function<void()>& wait) {
  double issued = 1e9, ended = 1e9;
  for (int round = 0; round < rounds; ++round) {
    wait();
    const auto begin = Clock::now();
    for (int i = 0; i < count; ++i) call();
    const auto between = Clock::now();
    wait();
    issued = std::min(issued, microseconds(begin, between) / count);
    ended = std::min(ended, microseconds(begin, Clock::now()) / count);
  }
  fmt::print("{:<40} {:6.2f} us, with its end {:6.2f} us\n", what, issued, ended);
}

}  // namespace

int main() {
  const metalloid::Device device = metalloid::Device::named("cuda");
  const Kernel kernel = device
                            .make_library(
                                "kernel void add_one(device float* y, uint i [[thread_position_in_grid]]) "
                                "{ y[i] += 1; }")
                            .kernel("add_one");
  metalloid::Buffer y(device, 4096);
  Dispatch dispatch;
  dispatch.buffer(0, y).threads({32}, {32});
  metalloid::run(kernel, dispatch);
  metalloid::Stream own(device), shared(device, 0);
  const auto measure_stream = [&](std::string_view what, int count, metalloid::Stream& stream) {
    measure(what, count, [&] { stream.dispatch(kernel, dispatch); }, [&] { stream.synchronize(); });
  };
  measure_stream("stream of others", calls, shared);
  measure_stream("own stream", calls, own);
  measure_stream("own stream, one at a time", 1, own);
  measure("run()", 1, [&] { metalloid::run(kernel, dispatch); }, [] {});
  metalloid::Queue queue(device);
  metalloid::CommandBuffer buffer = queue.command_buffer();
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    buffer = queue.command_buffer();
    for (int i = 0; i < calls; ++i) buffer.dispatch(kernel, dispatch);
    const auto begin = Clock::now();
    buffer.commit();
    buffer.wait_until_completed();
    best = std::min(best, microseconds(begin, Clock::now()) / calls);
  }
  fmt::print("{:<40} {:6.2f} us each\n", fmt::format("command buffer of {}", calls), best);
}
