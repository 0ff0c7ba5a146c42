// The reference engine's operations on simdgroup matrices, by what ir/operations.def says of them.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "engines/reference/matrices.h"
#include "ir/operations.h"

namespace metalloid::engines::reference {
namespace matrix_arithmetic_test {

using ir::MatrixAction;
using ir::MatrixElement;
using Words = std::array<std::uint64_t, 32>;

constexpr std::uint32_t all = ~0u;

// The element in row r and column c is element c % 2 of the lane.
unsigned lane_of(unsigned r, unsigned c) {
  return (r / 4) << 4 | (c / 4) << 3 | (r / 2 % 2) << 2 | (r % 2) << 1 | (c / 2 % 2);
}

template <typename Value>
Words spread(unsigned bits, Value value) {
  Words words{};
  for (unsigned r = 0; r < 8; ++r) {
    for (unsigned c = 0; c < 8; ++c) words[lane_of(r, c)] |= std::uint64_t{value(r, c)} << c % 2 * bits;
  }
  return words;
}

std::uint32_t element(const Words& words, unsigned bits, unsigned r, unsigned c) {
  const std::uint64_t word = words[lane_of(r, c)] >> c % 2 * bits;
  return static_cast<std::uint32_t>(bits == 32 ? word : word & 0xffff);
}

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint32_t half_of(float value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }

// Sums of these round.
float a_at(unsigned r, unsigned c) { return static_cast<float>(r * 8 + c) / 7; }
float b_at(unsigned r, unsigned c) { return 3 - static_cast<float>(c * 8 + r) / 11; }
float c_at(unsigned r, unsigned c) { return 1000.0f / static_cast<float>(r + c + 1); }

TEST(MatrixArithmetic, MultipliesInTheOrderOfTheChain) {
  const Words a = spread(16, [](unsigned r, unsigned c) { return half_of(a_at(r, c)); });
  const Words b = spread(16, [](unsigned r, unsigned c) { return bits_of(b_at(r, c)) >> 16; });
  const Words c = spread(32, [](unsigned r, unsigned col) { return bits_of(c_at(r, col)); });
  Words result = a;
  run_matrix_operation({MatrixAction::multiply_accumulate, MatrixElement::f16, MatrixElement::bf16}, all, result, b, c);
  for (unsigned i = 0; i < 8; ++i) {
    for (unsigned j = 0; j < 8; ++j) {
      float sum = c_at(i, j);
      for (unsigned k = 0; k < 8; ++k) {
        const auto x = static_cast<float>(static_cast<_Float16>(a_at(i, k)));
        sum = std::fma(x, std::bit_cast<float>(bits_of(b_at(k, j)) & 0xffff0000), sum);
      }
      EXPECT_EQ(element(result, 32, i, j), bits_of(sum)) << i << ", " << j;
    }
  }
}

TEST(MatrixArithmetic, TakesLanesThatAreNotActiveAsZeros) {
  const Words ones = spread(32, [](unsigned, unsigned) { return bits_of(1); });
  Words result = ones;
  // Rows 0 to 3 of all operands.
  run_matrix_operation({MatrixAction::multiply_accumulate, MatrixElement::f32, MatrixElement::f32}, 0xffff, result,
                       ones, ones);
  EXPECT_EQ(element(result, 32, 2, 5), bits_of(5));
  EXPECT_EQ(element(result, 32, 6, 5), bits_of(1)) << "an inactive lane keeps its value";
}

TEST(MatrixArithmetic, MovesBits) {
  // All are different, and some are NaNs that arithmetic would change.
  const auto x_at = [](unsigned r, unsigned c) { return 0x7c00u + r * 8 + c; };
  const auto y_at = [](unsigned r, unsigned c) { return 0xfc00u + r * 8 + c; };
  for (const MatrixElement type : {MatrixElement::f16, MatrixElement::bf16, MatrixElement::f32}) {
    const unsigned bits = type == MatrixElement::f32 ? 32 : 16;
    const Words x = spread(bits, x_at), y = spread(bits, y_at);
    const auto run = [&](MatrixAction action) {
      Words words = x;
      run_matrix_operation({action, type, type}, all, words, y, y);
      return words;
    };
    const Words transposed = run(MatrixAction::transpose);
    const Words zip_low = run(MatrixAction::zip_low), zip_high = run(MatrixAction::zip_high);
    const Words even = run(MatrixAction::unzip_even), odd = run(MatrixAction::unzip_odd);
    for (unsigned r = 0; r < 8; ++r) {
      for (unsigned c = 0; c < 8; ++c) {
        const unsigned pair = c / 2, within = c % 2;
        EXPECT_EQ(element(transposed, bits, r, c), x_at(c, r));
        const auto zipped = [&](unsigned first) {
          const unsigned from = 2 * (first + pair / 2) + within;
          return pair % 2 == 0 ? x_at(r, from) : y_at(r, from);
        };
        EXPECT_EQ(element(zip_low, bits, r, c), zipped(0));
        EXPECT_EQ(element(zip_high, bits, r, c), zipped(2));
        const auto unzipped = [&](unsigned first) {
          const unsigned from = 2 * (pair % 2 * 2 + first) + within;
          return pair < 2 ? x_at(r, from) : y_at(r, from);
        };
        EXPECT_EQ(element(even, bits, r, c), unzipped(0));
        EXPECT_EQ(element(odd, bits, r, c), unzipped(1));
      }
    }
  }
}

}  // namespace matrix_arithmetic_test
}  // namespace metalloid::engines::reference
