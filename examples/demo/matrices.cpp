// Matrix multiplication by tiles and by simdgroup matrices, and the product of a 4-bit matrix and a vector.
#include <algorithm>
#include <array>
#include <random>

#include "example.h"

namespace demo {
namespace {

using metalloid::Buffer;

Example tiled_matmul() {
  const std::uint32_t rows = 150, columns = 130, inner = 170;  // no multiples of the tile
  Buffer a = random_buffer<float>(rows * inner, 21), b = random_buffer<float>(inner * columns, 22);
  Buffer c(std::size_t{rows} * columns * sizeof(float));
  Example example{.file = "tiled_matmul.metal", .kernel = "tiled_matmul", .output = c, .tolerance = 5e-5};
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      double sum = 0;
      for (std::uint32_t k = 0; k < inner; ++k) {
        sum += static_cast<double>(a.as<float>()[row * inner + k]) * b.as<float>()[k * columns + column];
      }
      example.expected.push_back(sum);
    }
  }
  example.dispatch.buffer(0, c).buffer(1, a).buffer(2, b).value(3, std::array{rows, columns, inner});
  example.dispatch.threadgroups({(columns + 15) / 16, (rows + 15) / 16}, {16, 16});
  return example;
}

template <typename T>
Example simdgroup_matmul(const char* kernel) {
  const std::uint32_t rows = 70, columns = 96, inner = 77;  // columns only are a multiple of the tile
  Buffer a = random_buffer<T>(rows * inner, 25), b = random_buffer<T>(inner * columns, 26);
  Buffer c(std::size_t{rows} * columns * sizeof(float));
  Example example{.file = "simdgroup_matmul.metal", .kernel = kernel, .output = c, .tolerance = 5e-5};
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      double sum = 0;
      for (std::uint32_t k = 0; k < inner; ++k) {
        sum += static_cast<double>(a.as<T>()[row * inner + k]) * static_cast<double>(b.as<T>()[k * columns + column]);
      }
      example.expected.push_back(sum);
    }
  }
  example.dispatch.buffer(0, c).buffer(1, a).buffer(2, b).value(3, std::array{rows, columns, inner});
  example.dispatch.threadgroups({columns / 32, (rows + 31) / 32}, {128});
  return example;
}

template <typename T>
Example linear_relu(const char* kernel) {
  const std::uint32_t rows = 64, inputs = 104, outputs = 72;
  Buffer x = random_buffer<T>(rows * inputs, 27), weight = random_buffer<T>(outputs * inputs, 28);
  Buffer bias = random_buffer<float>(outputs, 29), out(std::size_t{rows} * outputs * sizeof(float));
  Example example{.file = "simdgroup_fragments.metal", .kernel = kernel, .output = out, .tolerance = 5e-5};
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < outputs; ++column) {
      double sum = bias.as<float>()[column];
      for (std::uint32_t k = 0; k < inputs; ++k) {
        sum +=
            static_cast<double>(x.as<T>()[row * inputs + k]) * static_cast<double>(weight.as<T>()[column * inputs + k]);
      }
      example.expected.push_back(std::max(sum, 0.0));
    }
  }
  example.dispatch.buffer(0, out).buffer(1, x).buffer(2, weight).buffer(3, bias).value(4, inputs).value(5, outputs);
  example.dispatch.threadgroups({outputs / 8, rows / 8}, {32});
  return example;
}

struct Block {
  _Float16 scale;
  std::uint8_t packed[16];
};

Example int4_matvec() {
  const std::uint32_t rows = 301, columns = 2048, block_size = 32;
  const std::uint32_t blocks = columns / block_size;
  Buffer weights(std::size_t{rows} * blocks * sizeof(Block)), x = random_buffer<float>(columns, 23);
  Buffer y(rows * sizeof(float));
  std::mt19937_64 generator = reproducible(24);
  for (Block& block : weights.as<Block>()) {
    block.scale = static_cast<_Float16>(0.01 + 0.01 * static_cast<double>(generator() % 8));
    for (std::uint8_t& byte : block.packed) byte = static_cast<std::uint8_t>(generator());
  }
  Example example{.file = "int4_matvec.metal", .kernel = "int4_matvec", .output = y, .tolerance = 1e-4};
  for (std::uint32_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const Block& block = weights.as<Block>()[std::size_t{row} * blocks + b];
      for (std::uint32_t i = 0; i < block_size; ++i) {
        const int packed = block.packed[i % 16];
        const int weight = (i < 16 ? packed & 15 : packed >> 4) - 8;
        sum += static_cast<double>(block.scale) * weight * x.as<float>()[b * block_size + i];
      }
    }
    example.expected.push_back(sum);
  }
  const std::uint32_t simdgroups = 8;
  example.dispatch.buffer(0, y).buffer(1, weights).buffer(2, x).value(3, columns).value(4, rows);
  example.dispatch.threadgroups({(rows + simdgroups - 1) / simdgroups}, {32 * simdgroups});
  return example;
}

}  // namespace

std::vector<Example> matrix_examples() {
  std::vector<Example> examples;
  examples.push_back(tiled_matmul());
  examples.push_back(simdgroup_matmul<float>("simdgroup_matmul_float"));
  examples.push_back(simdgroup_matmul<_Float16>("simdgroup_matmul_half"));
  examples.push_back(simdgroup_matmul<BFloat16>("simdgroup_matmul_bfloat"));
  examples.push_back(linear_relu<float>("linear_relu_float"));
  examples.push_back(linear_relu<_Float16>("linear_relu_half"));
  examples.push_back(int4_matvec());
  return examples;
}

}  // namespace demo
