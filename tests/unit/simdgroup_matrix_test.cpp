// Products of simdgroup matrices against double precision: element types, transposes, origins, every device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace simdgroup_matrix_test {

// C (rows x columns) = A * B by 16 x 16 tiles, one per simdgroup, two simdgroups per threadgroup. A and B lie in
// memory transposed or not, with an origin inside a larger matrix.
constexpr const char* source = R"(
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

constant bool transpose_a [[function_constant(0)]];
constant bool transpose_b [[function_constant(1)]];
constant bool transpose_c [[function_constant(2)]];
constant constexpr uint border = 3;

kernel void product(device const A* a [[buffer(0)]], constant B* b [[buffer(1)]], device C* c [[buffer(2)]],
                    constant uint4& strides [[buffer(3)]], constant uint& inner [[buffer(4)]],
                    uint2 group [[threadgroup_position_in_grid]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  const uint row = 16 * (2 * group.y + simdgroup), column = 16 * group.x;
  simdgroup_matrix<C, 8, 8> sums[4];
  for (uint t = 0; t < 4; ++t) sums[t] = simdgroup_matrix<C, 8, 8>(C(0.0f));
  for (uint k = 0; k < inner; k += 8) {
    simdgroup_matrix<A, 8, 8> left[2];
    simdgroup_matrix<B, 8, 8> right[2];
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      const ulong r = row + 8 * i, s = column + 8 * i;
      simdgroup_load(left[i], a, strides.x, (transpose_a ? ulong2(r, k) : ulong2(k, r)) + border, transpose_a);
      simdgroup_load(right[i], b, strides.y, (transpose_b ? ulong2(k, s) : ulong2(s, k)) + border, transpose_b);
    }
#pragma unroll
    for (uint t = 0; t < 4; ++t) simdgroup_multiply_accumulate(sums[t], left[t / 2], right[t % 2], sums[t]);
  }
  for (uint t = 0; t < 4; ++t) {
    const ulong r = row + 8 * (t / 2), s = column + 8 * (t % 2);
    simdgroup_store(sums[t], c, strides.z, transpose_c ? ulong2(r, s) : ulong2(s, r), transpose_c);
  }
}
)";

struct Element {
  const char* name;  // in MSL
  std::size_t size;
  double unit;  // largest relative error of one rounding
};
constexpr Element elements[] = {{"float", 4, 0x1p-24}, {"half", 2, 0x1p-11}, {"bfloat", 2, 0x1p-8}};

// Stores `value` rounded to the element type and returns what was stored.
double store(const Element& element, std::byte* address, double value) {
  if (element.size == 4) {
    const float rounded = static_cast<float>(value);
    std::memcpy(address, &rounded, 4);
    return rounded;
  }
  if (element.name[0] == 'h') {
    const _Float16 rounded = static_cast<_Float16>(value);
    std::memcpy(address, &rounded, 2);
    return static_cast<double>(rounded);
  }
  const float wide = static_cast<float>(value);  // cut off to 8 bits: any bfloat will do as an input
  std::uint32_t bits;
  std::memcpy(&bits, &wide, 4);
  bits &= 0xffff0000;
  const std::uint16_t upper = static_cast<std::uint16_t>(bits >> 16);
  std::memcpy(address, &upper, 2);
  float stored;
  std::memcpy(&stored, &bits, 4);
  return stored;
}

double load(const Element& element, const std::byte* address) {
  if (element.size == 4) {
    float value;
    std::memcpy(&value, address, 4);
    return value;
  }
  if (element.name[0] == 'h') {
    _Float16 value;
    std::memcpy(&value, address, 2);
    return static_cast<double>(value);
  }
  std::uint16_t upper;
  std::memcpy(&upper, address, 2);
  const std::uint32_t bits = std::uint32_t{upper} << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

struct Matrix {
  std::uint32_t rows, columns, stride;
  Buffer buffer;
  std::vector<double> values;  // row by row, whatever the order in memory
};

// Random numbers between -1 and 1 behind a border of NaNs on every side.
Matrix random_matrix(const Element& element, std::uint32_t rows, std::uint32_t columns, bool transposed,
                     unsigned seed) {
  constexpr std::uint32_t border = 3;
  const std::uint32_t in_memory_rows = (transposed ? columns : rows) + 2 * border;
  const std::uint32_t stride = (transposed ? rows : columns) + 2 * border;
  Matrix matrix{rows, columns, stride, Buffer(std::size_t{in_memory_rows} * stride * element.size), {}};
  std::byte* first = matrix.buffer.as<std::byte>().data();
  for (std::size_t i = 0; i < std::size_t{in_memory_rows} * stride; ++i) store(element, first + i * element.size, NAN);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> numbers(-1, 1);
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      const std::size_t place = transposed ? std::size_t{column + border} * stride + row + border
                                           : std::size_t{row + border} * stride + column + border;
      matrix.values.push_back(store(element, first + place * element.size, numbers(generator)));
    }
  }
  return matrix;
}

struct Case {
  Element a, b, c;
  bool transpose_a, transpose_b, transpose_c;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const Element& a : elements) {
    for (const Element& b : elements) {
      list.push_back({a, b, elements[0], false, false, false});
    }
    list.push_back({a, a, a, false, false, false});
  }
  for (int i = 1; i < 8; ++i) {
    list.push_back({elements[0], elements[1], elements[0], (i & 1) != 0, (i & 2) != 0, (i & 4) != 0});
  }
  list.push_back({elements[1], elements[2], elements[1], true, true, true});
  return list;
}

class SimdgroupMatrixProducts : public ::testing::TestWithParam<std::string> {};

TEST_P(SimdgroupMatrixProducts, MultipliesLikeDoublePrecision) {
  const Device device = Device::named(GetParam());
  constexpr std::uint32_t rows = 64, columns = 48, inner = 40;
  for (const Case& test : cases()) {
    SCOPED_TRACE(fmt::format("{} x {} into {}, transposed: {} {} {}", test.a.name, test.b.name, test.c.name,
                             test.transpose_a, test.transpose_b, test.transpose_c));
    CompileOptions options;
    options.definitions = {{"A", test.a.name}, {"B", test.b.name}, {"C", test.c.name}};
    const Kernel kernel =
        device.make_library(source, options)
            .kernel("product",
                    FunctionConstants().set(0, test.transpose_a).set(1, test.transpose_b).set(2, test.transpose_c));
    Matrix a = random_matrix(test.a, rows, inner, test.transpose_a, 1);
    Matrix b = random_matrix(test.b, inner, columns, test.transpose_b, 2);
    const std::uint32_t c_stride = test.transpose_c ? rows : columns;
    Buffer c(std::size_t{rows} * columns * test.c.size);
    run(kernel, Dispatch()
                    .buffer(0, a.buffer)
                    .buffer(1, b.buffer)
                    .buffer(2, c)
                    .value(3, std::array<std::uint32_t, 4>{a.stride, b.stride, c_stride, 0})
                    .value(4, inner)
                    .threadgroups({columns / 16, rows / 32}, {64}));
    // Each product of 8 x 8 matrices rounds the sum to its type once, and 8 times to float in between.
    const double relative = inner * 0x1p-24 + inner / 8 * test.c.unit;
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t column = 0; column < columns; ++column) {
        double expected = 0, magnitude = 0;
        for (std::uint32_t k = 0; k < inner; ++k) {
          const double term = a.values[row * inner + k] * b.values[k * columns + column];
          expected += term;
          magnitude += std::abs(term);
        }
        const std::size_t place = test.transpose_c ? column * c_stride + row : row * c_stride + column;
        const double got = load(test.c, c.as<std::byte>().data() + place * test.c.size);
        ASSERT_NEAR(got, expected, magnitude * relative) << "row " << row << ", column " << column;
      }
    }
  }
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const Device& device : Device::all()) names.push_back(device.name());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Devices, SimdgroupMatrixProducts, ::testing::ValuesIn(device_names()),
                         [](const auto& info) { return info.param; });

}  // namespace simdgroup_matrix_test
}  // namespace metalloid
