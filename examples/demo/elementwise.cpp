// saxpy, the stencil, the templated activation, PyTorch's operator and the specialised epilogue: one thread, one
// element.
#include <algorithm>
#include <cmath>

#include "example.h"

namespace demo {
namespace {

using metalloid::Buffer;
using metalloid::ElementType;

Example saxpy() {
  const std::uint32_t count = 1'000'000;
  const float a = 0.75f;
  Buffer y = random_buffer<float>(count, 1), x = random_buffer<float>(count, 2);
  Example example{.file = "saxpy.metal", .kernel = "saxpy", .output = y, .tolerance = 1e-6};
  for (std::size_t i = 0; i < count; ++i) {
    example.expected.push_back(static_cast<double>(a) * x.as<float>()[i] + y.as<float>()[i]);
  }
  example.dispatch.buffer(0, y).buffer(1, x).value(2, a).threads({count}, {256});
  return example;
}

Example stencil() {
  const std::uint32_t width = 1000, height = 777;
  const float rate = 0.2f;
  Buffer now = random_buffer<float>(width * height, 3, 0, 100), next(now.size());
  Example example{.file = "stencil.metal", .kernel = "diffuse", .output = next, .tolerance = 1e-5};
  auto at = [&](std::size_t row, std::size_t column) -> double { return now.as<float>()[row * width + column]; };
  for (std::uint32_t row = 0; row < height; ++row) {
    for (std::uint32_t column = 0; column < width; ++column) {
      const bool on_edge = row == 0 || column == 0 || row == height - 1 || column == width - 1;
      double value = at(row, column);
      if (!on_edge) {
        value += static_cast<double>(rate) *
                 (at(row, column - 1) + at(row, column + 1) + at(row - 1, column) + at(row + 1, column) - 4 * value);
      }
      example.expected.push_back(value);
    }
  }
  example.dispatch.buffer(0, next).buffer(1, now).value(2, rate).threads({width, height}, {32, 8});
  return example;
}

template <typename T>
Example gelu(const char* kernel, ElementType kind, double tolerance) {
  const std::uint32_t count = 200'000;
  Buffer in = random_buffer<T>(count, 4, -6, 6), out(in.size());
  Example example{
      .file = "activations.metal", .kernel = kernel, .output = out, .output_kind = kind, .tolerance = tolerance};
  for (const T& element : in.as<T>()) {
    const double x = static_cast<double>(element);
    const double root = std::sqrt(2 / std::acos(-1.0));
    example.expected.push_back(0.5 * x * (1 + std::tanh(root * (x + 0.044715 * x * x * x))));
  }
  example.dispatch.buffer(0, out).buffer(1, in).threads({count / 4}, {256});
  return example;
}

Example softplus() {
  const std::uint32_t count = 200'000;
  Buffer in = random_buffer<float>(count, 7, -20, 20), out(in.size());
  Example example{.file = "pytorch_operators.metal",
                  .kernel = "softplus_dense_scalar_float_float",
                  .output = out,
                  .tolerance = 1e-6};
  for (double x : in.as<float>()) example.expected.push_back(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
  example.dispatch.buffer(0, out).buffer(1, in).threads({count}, {256});
  return example;
}

Example epilogue(bool has_bias, std::int64_t activation) {
  const std::uint32_t columns = 300, rows = 200;
  const float scale = 0.5f;
  Buffer in = random_buffer<float>(columns * rows, 5), bias = random_buffer<float>(columns, 6), out(in.size());
  Example example{.file = "function_constants.metal", .kernel = "epilogue", .output = out, .tolerance = 2e-6};
  example.constants.set("has_bias", has_bias).set("activation", activation);
  if (has_bias) example.constants.set("scale", static_cast<double>(scale));  // else the kernel's default of 1
  for (std::size_t i = 0; i < std::size_t{columns} * rows; ++i) {
    double value = in.as<float>()[i];
    if (has_bias) value = value * scale + bias.as<float>()[i % columns];
    if (activation == 1) value = std::max(value, 0.0);
    if (activation == 2) value = value / (1 + std::exp(-value));
    example.expected.push_back(value);
  }
  example.dispatch.buffer(0, out).buffer(1, in).threads({columns, rows}, {32, 8});
  if (has_bias) example.dispatch.buffer(2, bias);
  return example;
}

}  // namespace

std::vector<Example> elementwise_examples() {
  std::vector<Example> examples;
  examples.push_back(saxpy());
  examples.push_back(stencil());
  examples.push_back(gelu<float>("gelu_float", ElementType::float32, 2e-6));
  examples.push_back(gelu<_Float16>("gelu_half", ElementType::float16, 1e-3));
  examples.push_back(gelu<BFloat16>("gelu_bfloat", ElementType::bfloat16, 8e-3));
  examples.push_back(softplus());
  examples.push_back(epilogue(false, 1));
  examples.push_back(epilogue(true, 2));
  return examples;
}

}  // namespace demo
