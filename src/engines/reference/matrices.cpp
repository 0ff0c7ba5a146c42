#include "engines/reference/matrices.h"

#include <cmath>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace metalloid::engines::reference {
namespace {

constexpr unsigned lanes = 32, size = 8;

struct alignas(32) Matrix {
  float at[size][size];
};

// Calls visit(lane, row, column) for each pair of lanes that are neighbours in a row: four elements in one piece.
template <typename Visit>
void for_lane_pairs(Visit visit) {
  for (unsigned lane = 0; lane < lanes; lane += 2) {
    visit(lane, ((lane >> 2) & 4) | ((lane >> 1) & 3), (lane >> 1) & 4);
  }
}

void gather(Matrix& matrix, const std::uint64_t* pairs) {
  for_lane_pairs([&](unsigned lane, unsigned row, unsigned column) {
    std::memcpy(&matrix.at[row][column], pairs + lane, 4 * sizeof(float));
  });
}

void scatter(std::uint64_t* pairs, const Matrix& matrix) {
  for_lane_pairs([&](unsigned lane, unsigned row, unsigned column) {
    std::memcpy(pairs + lane, &matrix.at[row][column], 4 * sizeof(float));
  });
}

void multiply_anywhere(const Matrix& a, const Matrix& b, Matrix& c) {
  for (unsigned i = 0; i < size; ++i) {
    for (unsigned k = 0; k < size; ++k) {
      for (unsigned j = 0; j < size; ++j) c.at[i][j] = std::fma(a.at[i][k], b.at[k][j], c.at[i][j]);
    }
  }
}

#if defined(__x86_64__)
__attribute__((target("avx,fma"))) void multiply_with_fma(const Matrix& a, const Matrix& b, Matrix& c) {
  __m256 rows[size];
  for (unsigned k = 0; k < size; ++k) rows[k] = _mm256_load_ps(b.at[k]);
  for (unsigned i = 0; i < size; ++i) {
    __m256 sum = _mm256_load_ps(c.at[i]);
    for (unsigned k = 0; k < size; ++k) sum = _mm256_fmadd_ps(_mm256_broadcast_ss(&a.at[i][k]), rows[k], sum);
    _mm256_store_ps(c.at[i], sum);
  }
}
#endif

using Multiply = void (*)(const Matrix&, const Matrix&, Matrix&);

Multiply best_multiply() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma")) return multiply_with_fma;
#endif
  return multiply_anywhere;
}

}  // namespace

void run_matrices(const MatrixProgram& program, std::uint32_t active, std::uint64_t* registers) {
  static const Multiply multiply = best_multiply();
  Matrix matrices[most_matrix_registers];
  for (std::uint32_t r = 0; r < program.registers; ++r) {
    std::uint64_t* pairs = registers + r * lanes;
    if (active != ~0u) {
      for (unsigned lane = 0; lane < lanes; ++lane) {
        if (!((active >> lane) & 1)) pairs[lane] = 0;
      }
    }
    gather(matrices[r], pairs);
  }
  for (const MatrixStep& step : program) multiply(matrices[step.a], matrices[step.b], matrices[step.c]);
  // Products may follow each other into the same register: its last value counts.
  std::uint64_t written = 0;
  for (const MatrixStep& step : program) written |= std::uint64_t{1} << step.c;
  for (std::uint32_t r = 0; r < program.registers; ++r) {
    if ((written >> r) & 1) scatter(registers + r * lanes, matrices[r]);
  }
}

}  // namespace metalloid::engines::reference
