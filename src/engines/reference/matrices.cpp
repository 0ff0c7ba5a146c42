#include "engines/reference/matrices.h"

#include <bit>
#include <cmath>

namespace metalloid::engines::reference {
namespace {

using ir::MatrixAction;
using ir::MatrixElement;

constexpr unsigned lanes = 32, size = 8;

// The elements' bits.
struct Matrix {
  std::uint32_t at[size][size] = {};
};

// Calls visit(lane, part, row, column) for each element: it is the lane's first or second.
template <typename Visit>
void for_each_element(std::uint32_t active, Visit visit) {
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (!((active >> lane) & 1)) continue;
    const unsigned row = ((lane >> 4) & 1) * 4 + ((lane >> 2) & 1) * 2 + ((lane >> 1) & 1);
    const unsigned column = ((lane >> 3) & 1) * 4 + (lane & 1) * 2;
    visit(lane, 0u, row, column);
    visit(lane, 1u, row, column + 1);
  }
}

unsigned bits_of(MatrixElement element) { return element == MatrixElement::f32 ? 32 : 16; }

Matrix gather(std::uint32_t active, std::span<const std::uint64_t, 32> words, MatrixElement element) {
  Matrix matrix;
  const unsigned bits = bits_of(element);
  for_each_element(active, [&](unsigned lane, unsigned part, unsigned row, unsigned column) {
    matrix.at[row][column] =
        static_cast<std::uint32_t>((words[lane] >> part * bits) & ((std::uint64_t{1} << bits) - 1));
  });
  return matrix;
}

void scatter(std::uint32_t active, std::span<std::uint64_t, 32> words, MatrixElement element, const Matrix& matrix) {
  const unsigned bits = bits_of(element);
  for_each_element(active, [&](unsigned lane, unsigned part, unsigned row, unsigned column) {
    if (part == 0) words[lane] = 0;
    words[lane] |= std::uint64_t{matrix.at[row][column]} << part * bits;
  });
}

struct Floats {
  float at[size][size];
};

float as_float(std::uint32_t bits, MatrixElement element) {
  switch (element) {
    case MatrixElement::f16: return static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
    case MatrixElement::bf16: return std::bit_cast<float>(bits << 16);
    case MatrixElement::f32: break;
  }
  return std::bit_cast<float>(bits);
}

Floats as_floats(const Matrix& matrix, MatrixElement element) {
  Floats floats;
  for (unsigned i = 0; i < size; ++i) {
    for (unsigned j = 0; j < size; ++j) floats.at[i][j] = as_float(matrix.at[i][j], element);
  }
  return floats;
}

Matrix multiply_accumulate(const Floats& a, const Floats& b, const Floats& c) {
  Matrix result;
  for (unsigned i = 0; i < size; ++i) {
    for (unsigned j = 0; j < size; ++j) {
      float sum = c.at[i][j];
      for (unsigned k = 0; k < size; ++k) sum = std::fma(a.at[i][k], b.at[k][j], sum);
      result.at[i][j] = std::bit_cast<std::uint32_t>(sum);
    }
  }
  return result;
}

Matrix transpose(const Matrix& a) {
  Matrix result;
  for (unsigned i = 0; i < size; ++i) {
    for (unsigned j = 0; j < size; ++j) result.at[i][j] = a.at[j][i];
  }
  return result;
}

// Four pairs of columns of a, numbered 0 to 3, and b, 4 to 7.
Matrix pick_pairs(const Matrix& a, const Matrix& b, const unsigned (&pairs)[4]) {
  Matrix result;
  for (unsigned row = 0; row < size; ++row) {
    for (unsigned column = 0; column < size; ++column) {
      const unsigned pair = pairs[column / 2];
      result.at[row][column] = (pair < 4 ? a : b).at[row][pair % 4 * 2 + column % 2];
    }
  }
  return result;
}

}  // namespace

void run_matrix_operation(const ir::MatrixOperation& operation, std::uint32_t active,
                          std::span<std::uint64_t, 32> values, std::span<const std::uint64_t, 32> b,
                          std::span<const std::uint64_t, 32> c) {
  const Matrix left = gather(active, values, operation.a), right = gather(active, b, operation.b);
  const auto place = [&](const Matrix& result) { scatter(active, values, operation.a, result); };
  switch (operation.action) {
    case MatrixAction::multiply_accumulate:
    case MatrixAction::multiply_accumulate_relaxed: {
      const Matrix sum = gather(active, c, MatrixElement::f32);
      return scatter(active, values, MatrixElement::f32,
                     multiply_accumulate(as_floats(left, operation.a), as_floats(right, operation.b),
                                         as_floats(sum, MatrixElement::f32)));
    }
    case MatrixAction::transpose: return place(transpose(left));
    case MatrixAction::zip_low: return place(pick_pairs(left, right, {0, 4, 1, 5}));
    case MatrixAction::zip_high: return place(pick_pairs(left, right, {2, 6, 3, 7}));
    case MatrixAction::unzip_even: return place(pick_pairs(left, right, {0, 2, 4, 6}));
    case MatrixAction::unzip_odd: return place(pick_pairs(left, right, {1, 3, 5, 7}));
  }
}

}  // namespace metalloid::engines::reference
