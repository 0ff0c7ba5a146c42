// What a dispatch takes the host on a GPU: until the call returns, and until it is known to have ended. The driver's
// own launch of as much is measured in the same run.
//
//   build/bin/metalloid_launches
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
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

// The driver's functions, by their names in its library.
template <typename Function>
Function* driver_function(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function*>(library ? dlsym(library, name) : nullptr);
}

// Calls by the driver alone, of a kernel with an address, in the context that is there.
void measure_driver(std::uintptr_t address) {
  using Handle = void*;
  const auto retain = driver_function<int(Handle*, int)>("cuDevicePrimaryCtxRetain");
  const auto enter = driver_function<int(Handle)>("cuCtxSetCurrent");
  const auto load = driver_function<int(Handle*, const char*)>("cuModuleLoadData");
  const auto find = driver_function<int(Handle*, Handle, const char*)>("cuModuleGetFunction");
  const auto launch = driver_function<int(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                          Handle, void**, void**)>("cuLaunchKernel");
  const auto wait = driver_function<int(Handle)>("cuStreamSynchronize");
  if (!retain || !enter || !load || !find || !launch || !wait) return;
  Handle context = nullptr, module = nullptr, function = nullptr;
  const char* const code =
      ".version 7.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry add_one(.param .u64 y) {\n"
      "  .reg .u64 %a<4>; .reg .u32 %i<2>; .reg .f32 %f<2>;\n"
      "  ld.param.u64 %a0, [y]; cvta.to.global.u64 %a1, %a0; mov.u32 %i0, %tid.x; mul.wide.u32 %a2, %i0, 4;\n"
      "  add.u64 %a3, %a1, %a2; ld.global.f32 %f0, [%a3]; add.f32 %f1, %f0, 0f3F800000; st.global.f32 [%a3], %f1;\n"
      "  ret;\n}\n";
  if (retain(&context, 0) != 0 || enter(context) != 0 || load(&module, code) != 0 ||
      find(&function, module, "add_one") != 0) {
    return;
  }
  std::array<void*, 1> parameters = {&address};
  measure(
      "the driver's own launch", calls,
      [&] { launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters.data(), nullptr); }, [&] { wait(nullptr); });
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
  measure_driver(y.gpu_address());
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
