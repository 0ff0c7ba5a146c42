// RMSNorm and softmax: one threadgroup reduces one row.
#include <algorithm>
#include <cmath>

#include "example.h"

namespace demo {
namespace {

using metalloid::Buffer;

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

Example softmax() {
  const std::uint32_t rows = 200, columns = 1000;  // not a multiple of the threadgroup
  Buffer x = random_buffer<float>(rows * columns, 13, -10, 10), out(x.size());
  Example example{.file = "softmax.metal", .kernel = "softmax", .output = out, .tolerance = 1e-6};
  for (std::uint32_t row = 0; row < rows; ++row) {
    auto values = x.as<float>().subspan(std::size_t{row} * columns, columns);
    const double largest = *std::ranges::max_element(values);
    double sum = 0;
    for (double value : values) sum += std::exp(value - largest);
    for (double value : values) example.expected.push_back(std::exp(value - largest) / sum);
  }
  example.dispatch.buffer(0, out).buffer(1, x).value(2, columns).threadgroups({rows}, {256});
  return example;
}

}  // namespace

std::vector<Example> reduction_examples() {
  std::vector<Example> examples;
  examples.push_back(rms_norm());
  examples.push_back(softmax());
  return examples;
}

}  // namespace demo
