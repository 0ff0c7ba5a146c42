// Run times of the same product with simdgroup matrices and with tensor operations, in CPU time of all cores together.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "metalloid/metalloid.h"

namespace {

using metalloid::Buffer;
using metalloid::Device;
using metalloid::Dispatch;
using metalloid::Kernel;

constexpr std::uint32_t size = 256;  // rows and columns of every matrix

const metalloid::Library& library() {
  static const metalloid::Library made = [] {
    std::ifstream stream(METALLOID_SOURCE_FOLDER "/bench/products.metal");
    std::ostringstream text;
    text << stream.rdbuf();
    metalloid::CompileOptions options;
    options.language = {4, 0};
    return Device::cpu().make_library(text.str(), options);
  }();
  return made;
}

std::uint32_t scalar_bytes(const std::string& name) {
  return name.find("f32") != std::string::npos ? 4 : name.find("i8") != std::string::npos ? 1 : 2;
}

void product(benchmark::State& state, const std::string& name) {
  const Kernel kernel = library().kernel(name);
  const bool simdgroups = name.find("_4") != std::string::npos, thread = name.ends_with("thread");
  const std::uint32_t tile = simdgroups ? 64 : 32, threads = thread ? 1 : simdgroups ? 128 : 32;
  Buffer a(size * size * scalar_bytes(name)), b(a.size()), c(size * size * sizeof(float));
  Dispatch dispatch;
  if (name.starts_with("matrices")) {
    dispatch.buffer(0, a).buffer(1, b).buffer(2, c).value(3, size);
  } else {
    const std::array<std::int64_t, 2> extents = {size, size};
    dispatch.tensor(0, a, extents).tensor(1, b, extents).tensor(2, c, extents);
  }
  dispatch.threadgroups({size / tile, size / tile}, {threads});
  for (auto _ : state) metalloid::run(kernel, dispatch);
}

#define METALLOID_PRODUCT(NAME)                                           \
  void product_##NAME(benchmark::State& state) { product(state, #NAME); } \
  BENCHMARK(product_##NAME)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
METALLOID_PRODUCT(matrices_f32)
METALLOID_PRODUCT(matrices_f16)
METALLOID_PRODUCT(matrices_bf16)
METALLOID_PRODUCT(matrices_f32_4)
METALLOID_PRODUCT(matrices_f16_4)
METALLOID_PRODUCT(matrices_f32_accumulate)
METALLOID_PRODUCT(matrices_f32_left)
METALLOID_PRODUCT(matrices_f32_right)
METALLOID_PRODUCT(tensors_f32)
METALLOID_PRODUCT(tensors_f16)
METALLOID_PRODUCT(tensors_bf16)
METALLOID_PRODUCT(tensors_i8)
METALLOID_PRODUCT(tensors_f32_4)
METALLOID_PRODUCT(tensors_f16_4)
METALLOID_PRODUCT(tensors_f32_thread)
METALLOID_PRODUCT(tensors_f32_accumulate)
METALLOID_PRODUCT(tensors_f32_left)
METALLOID_PRODUCT(tensors_f32_right)
METALLOID_PRODUCT(tensors_f32_cooperative)
METALLOID_PRODUCT(tensors_f16_cooperative_4)
METALLOID_PRODUCT(tensors_f32_cooperative_accumulate)
METALLOID_PRODUCT(tensors_f32_relaxed)
METALLOID_PRODUCT(registers_f32)
METALLOID_PRODUCT(registers_f16)
METALLOID_PRODUCT(registers_f32_relaxed)
METALLOID_PRODUCT(registers_f16_relaxed)
METALLOID_PRODUCT(registers_f32_left)
METALLOID_PRODUCT(registers_f32_right)
#undef METALLOID_PRODUCT

}  // namespace
