// Run times of kernels whose threads meet, on the reference engine: what a meeting costs a lane, and kernels at the
// sizes that scripts for Macs measure them at. CPU times are those of all cores together.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "metalloid/metalloid.h"

namespace {

using metalloid::Buffer;
using metalloid::Device;
using metalloid::Dispatch;
using metalloid::Kernel;

Kernel load(const std::string& file, const std::string& kernel) {
  std::ifstream stream(METALLOID_SOURCE_FOLDER "/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return Device::named("reference").make_library(text.str()).kernel(kernel);
}

Buffer random_floats(std::size_t count) {
  Buffer buffer(count * sizeof(float));
  std::mt19937 generator(1);  // NOLINT(bugprone-random-generator-seed): the same numbers each time
  std::normal_distribution<float> normal;
  std::ranges::generate(buffer.as<float>(), [&] { return normal(generator); });
  return buffer;
}

// One threadgroup, so one core. The counter is in seconds of that core per lane and meeting.
void meet(benchmark::State& state, const std::string& name) {
  constexpr std::uint32_t count = 1000;
  const Kernel kernel = load("bench/meetings.metal", name);
  const auto threads = static_cast<std::uint32_t>(state.range(0));
  Buffer out(threads * sizeof(float));
  Dispatch dispatch;
  dispatch.buffer(0, out).value(1, count).threads({threads}, {threads});
  for (auto _ : state) metalloid::run(kernel, dispatch);
  const double meetings = static_cast<double>(state.iterations()) * count * threads;
  state.counters["lane"] = benchmark::Counter(meetings, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void simd_sums(benchmark::State& state) { meet(state, "sums"); }
void barriers(benchmark::State& state) { meet(state, "barriers"); }
BENCHMARK(simd_sums)->Arg(32)->Arg(256)->Arg(1024)->Unit(benchmark::kMicrosecond);
BENCHMARK(barriers)->Arg(32)->Arg(256)->Arg(1024)->Unit(benchmark::kMicrosecond);

// 2048 rows of 2048.
void rms_norm_rows(benchmark::State& state) {
  constexpr std::uint32_t rows = 2048, columns = 2048;
  const Kernel kernel = load("examples/kernels/rms_norm.metal", "rms_norm");
  Buffer x = random_floats(rows * columns), weight = random_floats(columns), out(x.size());
  Dispatch dispatch;
  dispatch.buffer(0, out).buffer(1, x).buffer(2, weight).value(3, columns).value(4, 1e-5f);
  dispatch.threadgroups({rows}, {256});
  for (auto _ : state) metalloid::run(kernel, dispatch);
}
BENCHMARK(rms_norm_rows)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

// 8 heads, 256 queries and keys of 128.
void causal_attention(benchmark::State& state) {
  constexpr std::uint32_t heads = 8, length = 256, size = 128;
  const Kernel kernel = load("bench/meetings.metal", "causal_attention");
  Buffer q = random_floats(heads * length * size), k = random_floats(heads * length * size),
         v = random_floats(heads * length * size), out(q.size());
  Dispatch dispatch;
  dispatch.buffer(0, out).buffer(1, q).buffer(2, k).buffer(3, v).value(4, length).value(5, size);
  dispatch.threadgroups({heads * length}, {256});
  for (auto _ : state) metalloid::run(kernel, dispatch);
}
BENCHMARK(causal_attention)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace
