// Run times: the overhead of a launch, and streaming through memory.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>

#include "metalloid/metalloid.h"

namespace {

using metalloid::Buffer;
using metalloid::Device;
using metalloid::Dispatch;
using metalloid::Kernel;

void empty_launch(benchmark::State& state) {
  const Kernel kernel = Device::cpu().make_library("kernel void nothing() {}").kernel("nothing");
  Dispatch dispatch;
  dispatch.threadgroups({1}, {32});
  for (auto _ : state) metalloid::run(kernel, dispatch);
}
BENCHMARK(empty_launch)->Unit(benchmark::kMicrosecond)->UseRealTime();

constexpr std::size_t stream_bytes = std::size_t{64} << 20;

// Reads x and y and writes y: 192 MiB move per run.
void saxpy_stream(benchmark::State& state) {
  const Kernel kernel = Device::cpu()
                            .make_library(
                                "kernel void saxpy(device float* y, device const float* x, constant float& a, uint i "
                                "[[thread_position_in_grid]]) { y[i] = a * x[i] + y[i]; }")
                            .kernel("saxpy");
  Buffer y(stream_bytes), x(stream_bytes);
  std::memset(x.contents(), 1, x.size());
  Dispatch dispatch;
  dispatch.buffer(0, y).buffer(1, x).value(2, 0.5f);
  dispatch.threads({static_cast<std::uint32_t>(stream_bytes / sizeof(float))}, {1024});
  for (auto _ : state) metalloid::run(kernel, dispatch);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * 3 * stream_bytes));
}
BENCHMARK(saxpy_stream)->Unit(benchmark::kMillisecond)->UseRealTime();

// One thread copies 64 MiB: 128 MiB move per run.
void memcpy_stream(benchmark::State& state) {
  Buffer to(stream_bytes), from(stream_bytes);
  std::memset(from.contents(), 1, from.size());
  for (auto _ : state) {
    std::memcpy(to.contents(), from.contents(), stream_bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * 2 * stream_bytes));
}
BENCHMARK(memcpy_stream)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
