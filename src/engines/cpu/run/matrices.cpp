#include "engines/cpu/run/matrices.h"

#include <cmath>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "ir/operations.h"

namespace metalloid::engines::cpu {
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

// A pair of neighbours in a row.
struct Pair {
  float at[2];
};
Pair pair(const Matrix& matrix, unsigned row, unsigned index) {
  return {{matrix.at[row][2 * index], matrix.at[row][2 * index + 1]}};
}

// Fills c with four pairs of columns of a and b, numbered a0 to a3 and b0 to b3 (4 to 7).
template <unsigned p0, unsigned p1, unsigned p2, unsigned p3>
void pick_pairs(const Matrix& a, const Matrix& b, Matrix& c) {
  auto place = [&](unsigned row, unsigned to, unsigned from) {
    const Pair moved = from < 4 ? pair(a, row, from) : pair(b, row, from - 4);
    std::memcpy(&c.at[row][2 * to], &moved, sizeof(moved));
  };
  for (unsigned row = 0; row < size; ++row) {
    place(row, 0, p0);
    place(row, 1, p1);
    place(row, 2, p2);
    place(row, 3, p3);
  }
}

void transpose(const Matrix& a, Matrix& c) {
#if defined(__x86_64__)
  for (unsigned i = 0; i < size; i += 4) {
    for (unsigned j = 0; j < size; j += 4) {
      __m128 rows[4];
      for (unsigned r = 0; r < 4; ++r) rows[r] = _mm_load_ps(&a.at[i + r][j]);
      _MM_TRANSPOSE4_PS(rows[0], rows[1], rows[2], rows[3]);
      for (unsigned r = 0; r < 4; ++r) _mm_store_ps(&c.at[j + r][i], rows[r]);
    }
  }
#else
  for (unsigned i = 0; i < size; ++i) {
    for (unsigned j = 0; j < size; ++j) c.at[i][j] = a.at[j][i];
  }
#endif
}

using Multiply = void (*)(const Matrix&, const Matrix&, Matrix&);

Multiply best_multiply() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("fma")) return multiply_with_fma;
#endif
  return multiply_anywhere;
}

// Chosen when the library is loaded: a variable made at its first use has a lock, which a crash would leave held.
const Multiply multiply = best_multiply();

}  // namespace

void run_matrices(const MatrixProgram& program, std::uint32_t active, std::uint64_t* registers) {
  Matrix matrices[most_matrix_registers];
  for (std::uint32_t r = 0; r < program.registers; ++r) {
    if (!MatrixProgram::has(program.filled, r)) continue;
    std::uint64_t* pairs = registers + r * lanes;
    if (active != ~0u) {
      for (unsigned lane = 0; lane < lanes; ++lane) {
        if (!((active >> lane) & 1)) pairs[lane] = 0;
      }
    }
    gather(matrices[r], pairs);
  }
  for (const MatrixStep& step : program) {
    const Matrix &a = matrices[step.a], &b = matrices[step.b];
    Matrix& c = matrices[step.c];
    switch (static_cast<ir::MatrixAction>(step.action)) {
      case ir::MatrixAction::multiply_accumulate: multiply(a, b, c); break;
      case ir::MatrixAction::transpose: transpose(a, c); break;
      case ir::MatrixAction::zip_low: pick_pairs<0, 4, 1, 5>(a, b, c); break;
      case ir::MatrixAction::zip_high: pick_pairs<2, 6, 3, 7>(a, b, c); break;
      case ir::MatrixAction::unzip_even: pick_pairs<0, 2, 4, 6>(a, b, c); break;
      case ir::MatrixAction::unzip_odd: pick_pairs<1, 3, 5, 7>(a, b, c); break;
    }
  }
  for (std::uint32_t r = 0; r < program.registers; ++r) {
    if (MatrixProgram::has(program.read, r)) scatter(registers + r * lanes, matrices[r]);
  }
}

}  // namespace metalloid::engines::cpu
