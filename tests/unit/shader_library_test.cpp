// ShaderLibrary: the rules of PyTorch's MetalShaderLibrary in C++.
#include "metalloid/shader_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <thread>
#include <vector>

namespace metalloid {
namespace shader_library_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* source = R"(
#include <metal_stdlib>
#include <c10/metal/error.h>
using namespace metal;

kernel void scale(device float* y, constant float* x, constant float& factor, constant long& shift,
                  uint i [[thread_position_in_grid]]) {
  y[i] = x[i] * factor + shift;
}
struct Pair { int first; float second; };
kernel void values(device float* y, constant Pair& pair, constant float* list, constant uchar& small) {
  y[0] = pair.first; y[1] = pair.second; y[2] = list[2]; y[3] = small;
}
kernel void shape(device uint3* y, uint3 n [[threads_per_grid]], uint3 g [[threads_per_threadgroup]]) {
  y[0] = n; y[1] = g;
}
struct Many { metal::array<device float*, 2> x; };
kernel void gather(device float* y, constant Many& many) { y[0] = many.x[0][0] + many.x[1][0]; }
kernel void check(device float* y, device c10::metal::ErrorMessages* errors, uint i [[thread_position_in_grid]]) {
  if (i > 1) TORCH_REPORT_ERROR(errors, "Index ", i, " exceeds limit ", 1);
}
kernel void crash(device uint* y) { device uint* p = nullptr; *p = 1; }
kernel void tile(device float* y, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float t[64];
  t[i % 64] = i;
  y[i] = t[i % 64];
}
)";

DynamicShaderLibrary& library() {
  static DynamicShaderLibrary made(source);
  return made;
}

template <typename Action>
void expect_error(ErrorCode code, Action action, const std::string& text) {
  try {
    action();
    ADD_FAILURE() << "no error; expected: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

TEST(ShaderLibrary, RunsAKernelAsPyTorchDoes) {
  auto scale = library().kernel_function("scale");
  Buffer x(8 * sizeof(float)), y(8 * sizeof(float));
  std::iota(x.as<float>().begin(), x.as<float>().end(), 0.0f);
  scale->run_command_block([&] {
    scale->start_encoding();
    scale->set_arg(0, y);
    scale->set_arg(1, x, 2 * sizeof(float));  // a view
    scale->set_arg(2, 10.0f);
    scale->set_arg(3, std::int64_t{-1});
    scale->dispatch(4);
  });
  EXPECT_THAT(y.as<float>(), ElementsAre(19, 29, 39, 49, 0, 0, 0, 0));
}

TEST(ShaderLibrary, TakesStructuresContainersAndAddresses) {
  struct Pair {
    int first;
    float second;
  };
  auto values = library().kernel_function("values");
  Buffer y(4 * sizeof(float));
  values->start_encoding();
  values->set_arg(0, y);
  values->set_arg(1, Pair{7, 0.5f});
  values->set_arg(2, std::vector<float>{1, 2, 3});
  values->set_arg(3, std::uint8_t{200});
  values->dispatch(1);
  EXPECT_THAT(y.as<float>(), ElementsAre(7, 0.5f, 3, 200));
  values->set_arg(2, std::array<float, 3>{4, 5, 6});  // the others stay
  values->dispatch({1}, {1});
  EXPECT_EQ(y.as<float>()[2], 6);

  auto gather = library().kernel_function("gather");
  Buffer a(8), b(8);
  a.as<float>()[1] = 3;
  b.as<float>()[0] = 4;
  const std::array<Dispatch::BufferBinding, 2> both = {{{a, sizeof(float)}, {b, 0}}};
  gather->start_encoding();
  gather->set_arg(0, y);
  gather->set_arg(1, both);
  gather->dispatch(1);
  EXPECT_EQ(y.as<float>()[0], 7);
}

TEST(ShaderLibrary, ChoosesGroups) {
  auto shape = library().kernel_function("shape");
  Buffer y(32);
  auto run = [&](auto... arguments) {
    shape->start_encoding();
    shape->set_arg(0, y);
    shape->dispatch(arguments...);
    return std::vector<std::uint32_t>(y.as<std::uint32_t>().begin(), y.as<std::uint32_t>().end());
  };
  EXPECT_THAT(run(std::uint64_t{5}), ElementsAre(5, 1, 1, 0, 5, 1, 1, 0));
  EXPECT_THAT(run(std::uint64_t{5}, std::uint64_t{2})[0], 5);
  const std::array<std::uint64_t, 3> grid = {8, 4, 2}, group = {4, 2, 1};
  EXPECT_THAT(run(std::span<const std::uint64_t>(grid), std::span<const std::uint64_t>(group)),
              ElementsAre(8, 4, 2, 0, 4, 2, 1, 0));
  EXPECT_THAT(run(std::span<const std::uint64_t>(grid))[4], 8);  // 1024, cut to the grid
  EXPECT_THAT(run(std::uint64_t{0})[0], 8);                      // nothing ran
}

TEST(ShaderLibrary, NamesItsKernelsAndTheirLimits) {
  EXPECT_THAT(library().function_names(), ElementsAre("scale", "values", "shape", "gather", "check", "crash", "tile"));
  EXPECT_TRUE(library().has_function("tile"));
  EXPECT_FALSE(library().has_function("tiles"));
  auto tile = library().kernel_function("tile");
  EXPECT_EQ(tile->max_threads_per_threadgroup(), 1024u);
  EXPECT_EQ(tile->thread_execution_width(), 32u);
  EXPECT_EQ(tile->static_threadgroup_memory_length(), 256u);
  expect_error(
      ErrorCode::unknown_function, [] { library().kernel_function("tiles"); },
      "Failed to create function state object for: tiles");
  EXPECT_TRUE(ShaderLibrary("").function_names().empty());
}

TEST(ShaderLibrary, SubstitutesParameters) {
  ShaderLibrary made("kernel void fill_{0}(device {0}* y) {{ y[0] = {1}; }}", 2);
  Buffer y(4);
  run(made.pipeline_state("fill_float", {"float", "2.5"}), Dispatch().buffer(0, y).threads({1}, {1}));
  EXPECT_EQ(y.as<float>()[0], 2.5f);
  run(made.pipeline_state("fill_int", {"int", "7"}), Dispatch().buffer(0, y).threads({1}, {1}));
  EXPECT_EQ(y.as<int>()[0], 7);
  expect_error(ErrorCode::invalid_argument, [&] { made.function_names(); }, "has 2 parameters; 0 given");
  expect_error(ErrorCode::invalid_argument, [] { ShaderLibrary("", 4); }, "at most 3");
  expect_error(
      ErrorCode::invalid_argument, [] { ShaderLibrary("{} {}", 1).pipeline_state("f", {"a"}); },
      "no format of 1 parameters");
}

TEST(ShaderLibrary, ReportsErrorsOfKernels) {
  synchronize();
  auto check = library().kernel_function("check");
  Buffer y(4);
  check->start_encoding();
  check->set_arg(0, y);
  check->set_error_buffer_index(1);
  check->dispatch(100);
  expect_error(ErrorCode::kernel_reported, [] { synchronize(); }, "Index 2 exceeds limit 1");
  synchronize();  // forgotten
}

TEST(ShaderLibrary, RefusesBadInput) {
  expect_error(ErrorCode::compile_error, [] { DynamicShaderLibrary("What"); }, "program_source:1:1: error");
  auto tile = library().kernel_function("tile");
  Buffer y(4096);
  expect_error(ErrorCode::invalid_argument, [&] { tile->set_arg(0, y); }, "start_encoding()");
  tile->start_encoding();
  expect_error(ErrorCode::invalid_argument, [&] { tile->dispatch(1); }, "missing buffer binding at index 0");
  tile->set_arg(0, y);
  expect_error(ErrorCode::limit_exceeded, [&] { tile->dispatch(2000, 1025); }, "Threadgroup size exceeds 1024 limit");
  expect_error(
      ErrorCode::limit_exceeded, [&] { tile->dispatch({8, 8}, {std::uint64_t{1} << 40, 1u << 30}); },
      "Threadgroup size exceeds 1024 limit");
  expect_error(ErrorCode::invalid_argument, [&] { tile->dispatch({8, 8}, {8}); }, "same number of dimensions");
  expect_error(ErrorCode::invalid_argument, [&] { tile->dispatch({1, 1, 1, 1}); }, "Dispatch dimensions");
  expect_error(ErrorCode::invalid_argument, [&] { tile->dispatch(8, 0); }, "at least 1");
  expect_error(ErrorCode::invalid_argument, [&] { tile->dispatch(std::uint64_t{1} << 32); }, "2^32 - 1");
  expect_error(ErrorCode::invalid_argument, [&] { tile->set_arg(0, std::vector<float>()); }, "no bytes");
  tile->set_arg(0, y, 5000);
  expect_error(ErrorCode::invalid_argument, [&] { tile->dispatch(1); }, "offset 5000");
  auto crash = library().kernel_function("crash");
  crash->start_encoding();
  crash->set_arg(0, y);
  expect_error(ErrorCode::kernel_crashed, [&] { crash->dispatch(1); }, "kernel 'crash' crashed at program_source:");
}

TEST(ShaderLibrary, BlocksOfSeveralThreadsDoNotMix) {
  auto scale = library().kernel_function("scale");
  std::vector<std::thread> threads;
  std::array<bool, 4> right = {};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      right[t] = true;
      for (int i = 0; i < 50; ++i) {
        Buffer x(4), y(4);
        x.as<float>()[0] = 1;
        scale->run_command_block([&] {
          scale->start_encoding();
          scale->set_arg(0, y);
          scale->set_arg(1, x);
          scale->set_arg(2, static_cast<float>(t));
          scale->set_arg(3, std::int64_t{i});
          scale->dispatch(1);
        });
        right[t] = right[t] && y.as<float>()[0] == static_cast<float>(t + i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, ElementsAre(true, true, true, true));
}

TEST(ShaderLibrary, InterruptedKernelsSayThatTheyWere) {
  DynamicShaderLibrary endless("kernel void spin(device volatile uint* y) { y[0] = 1; while (true) y[1] += 1; }");
  auto spin = endless.kernel_function("spin");
  Buffer y(8);
  std::thread stopper([&] {
    while (reinterpret_cast<volatile std::uint32_t*>(y.contents())[0] == 0) std::this_thread::yield();
    interrupt_kernels();
  });
  spin->start_encoding();
  spin->set_arg(0, y);
  expect_error(ErrorCode::kernel_interrupted, [&] { spin->dispatch(1); }, "kernel 'spin' was interrupted");
  stopper.join();
}

TEST(ShaderLibrary, RefusesAnotherFloatingPointFormat) {
  auto scale = library().kernel_function("scale");
  const auto dispatch_with = [&](const Buffer& y, auto factor) {
    scale->run_command_block([&] {
      scale->start_encoding();
      scale->set_arg(0, y);
      scale->set_arg(1, Buffer::of<float>(8));
      scale->set_arg(2, factor);
      scale->set_arg(3, std::int64_t{-1});
      scale->dispatch(4);
    });
  };
  dispatch_with(Buffer::of<float>(8), 1.0f);
  dispatch_with(Buffer::of<std::uint32_t>(8), std::int32_t{1});  // the same memory
  const Buffer halves = Buffer(64).with_elements(ElementType::float16);
  expect_error(
      ErrorCode::invalid_argument, [&] { dispatch_with(halves, 1.0f); },
      "argument 'y' at index 0 has the type float, whose elements are f32; those given are f16");
  dispatch_with(halves.with_elements(ElementType::none), 1.0f);

  auto gather = library().kernel_function("gather");
  const auto gather_with = [&](const Buffer& second) {
    const std::array<Dispatch::BufferBinding, 2> many = {Dispatch::BufferBinding{Buffer::of<float>(4)},
                                                         Dispatch::BufferBinding{second}};
    gather->start_encoding();
    gather->set_arg(0, Buffer::of<float>(4));
    gather->set_arg(1, std::span<const Dispatch::BufferBinding>(many));
    gather->dispatch(1);
  };
  gather_with(Buffer(16));
  expect_error(
      ErrorCode::invalid_argument, [&] { gather_with(halves); },
      "address 1 of argument 'many' at index 1 leads to elements that are f32; those of its buffer are f16");

  auto half_values = DynamicShaderLibrary("kernel void f(device half* x, constant half* v) { x[0] = v[0]; }");
  auto f = half_values.kernel_function("f");
  f->start_encoding();
  f->set_arg(0, halves);
  f->set_arg(1, std::vector<float>{1, 2});
  expect_error(ErrorCode::invalid_argument, [&] { f->dispatch(1); }, "argument 'v' at index 1");
}

}  // namespace shader_library_test
}  // namespace metalloid
