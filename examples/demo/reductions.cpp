// RMSNorm, LayerNorm and softmax: one threadgroup, or one simdgroup, reduces one row.
#include <algorithm>
#include <cmath>

#include "example.h"

namespace demo {
namespace {

using metalloid::Buffer;
using metalloid::ElementType;

Example rms_norm() {
  const std::uint32_t rows = 256, columns = 1024;
  const float epsilon = 1e-5f;
  Buffer x = random_buffer<float>(rows * columns, 11), weight = random_buffer<float>(columns, 12, 0.5, 1.5);
  Buffer out(x.size());
  Example example{.file = "rms_norm.metal", .kernel = "rms_norm", .output = out, .tolerance = 2e-6};
  for (std::uint32_t row = 0; row < rows; ++row) {
    auto values = x.as<float>().subspan(std::size_t{row} * columns, columns);
    double sum = 0;
    for (double value : values) sum += value * value;
    const double scale = 1 / std::sqrt(sum / columns + epsilon);
    for (std::uint32_t i = 0; i < columns; ++i) {
      example.expected.push_back(values[i] * scale * weight.as<float>()[i]);
    }
  }
  example.dispatch.buffer(0, out).buffer(1, x).buffer(2, weight).value(3, columns).value(4, epsilon);
  example.dispatch.threadgroups({rows}, {256});
  return example;
}

template <typename T>
Example layer_norm(const char* kernel, ElementType kind, double mean, double tolerance) {
  const std::uint32_t rows = 100, columns = 1000;
  const float epsilon = 1e-5f;
  Buffer x = random_buffer<T>(rows * columns, 14, mean - 2, mean + 2), out(x.size());
  Buffer weight = random_buffer<T>(columns, 15, 0.5, 1.5), bias = random_buffer<T>(columns, 16);
  Example example{
      .file = "layer_norm.metal", .kernel = kernel, .output = out, .output_kind = kind, .tolerance = tolerance};
  for (std::uint32_t row = 0; row < rows; ++row) {
    auto values = x.as<T>().subspan(std::size_t{row} * columns, columns);
    double sum = 0, squares = 0;
    for (T value : values) sum += static_cast<double>(value);
    for (T value : values) squares += std::pow(static_cast<double>(value) - sum / columns, 2);
    const double scale = 1 / std::sqrt(squares / columns + epsilon);
    for (std::uint32_t i = 0; i < columns; ++i) {
      example.expected.push_back((static_cast<double>(values[i]) - sum / columns) * scale *
                                     static_cast<double>(weight.as<T>()[i]) +
                                 static_cast<double>(bias.as<T>()[i]));
    }
  }
  example.dispatch.buffer(0, out).buffer(1, x).buffer(2, weight).buffer(3, bias).value(4, columns).value(5, epsilon);
  example.dispatch.threadgroups({rows}, {256});
  return example;
}

Example softmax(const char* kernel, std::uint32_t columns) {
  const std::uint32_t rows = 200;
  Buffer x = random_buffer<float>(rows * columns, 13, -10, 10), out(x.size());
  Example example{.file = "softmax.metal", .kernel = kernel, .output = out, .tolerance = 1e-6};
  for (std::uint32_t row = 0; row < rows; ++row) {
    auto values = x.as<float>().subspan(std::size_t{row} * columns, columns);
    const double largest = *std::ranges::max_element(values);
    double sum = 0;
    for (double value : values) sum += std::exp(value - largest);
    for (double value : values) example.expected.push_back(std::exp(value - largest) / sum);
  }
  example.dispatch.buffer(0, out).buffer(1, x).value(2, columns);
  return example;
}

Example softmax_of_threadgroups() {
  Example example = softmax("softmax_float", 1000);  // not a multiple of the threadgroup
  example.dispatch.threadgroups({200}, {256});
  return example;
}

Example softmax_of_simdgroups() {
  Example example = softmax("softmax_one_simdgroup_float", 77);
  example.dispatch.value(3, std::uint32_t{200}).threadgroups({(200 + 7) / 8}, {8 * 32});
  return example;
}

}  // namespace

std::vector<Example> reduction_examples() {
  std::vector<Example> examples;
  examples.push_back(rms_norm());
  examples.push_back(layer_norm<float>("layer_norm_float", ElementType::float32, 1000, 2e-6));
  examples.push_back(layer_norm<_Float16>("layer_norm_half", ElementType::float16, 0, 1e-3));
  examples.push_back(layer_norm<BFloat16>("layer_norm_bfloat", ElementType::bfloat16, 0, 8e-3));
  examples.push_back(softmax_of_threadgroups());
  examples.push_back(softmax_of_simdgroups());
  return examples;
}

}  // namespace demo
