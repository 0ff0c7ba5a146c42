// multiply_held: a product of tiles that one simdgroup holds, without rows of its sums or of operands that do not lie
// transposed, for the instructions of the file that includes this (AVX-512 or none).
//
// What 16 lanes hold of a fragment is four rows, b2 b1, by four columns, b3 b0 (held_code.h). So for each k
//
//   sums[rows][columns] += left[rows] * right[columns]
//
// where each element of a left vector is there for all b3 b0, of a right one for all b2 b1. Both are one permutation of
// what lanes hold, or of rows along k, and are made as they are wanted: 16 products of 8 of them keep all three units
// of a processor busy that has two for products and two for permutations. An element's products are added up in the
// order of k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "engines/simd/tiles/held_code.h"
#include "engines/simd/tiles/panel_code.h"

namespace metalloid::engines::simd {
namespace {

#if defined(__AVX512F__)

constexpr int unrolled = 8;  // steps of k

// Vectors of a left operand for a block of 16 rows, out of what lanes hold.
template <int fragment>
class HeldLeft {
 public:
  HeldLeft(const HeldTile& tile, const float* words) : words_(words), across_(tile.across) {}

  // The first of its words for k, a multiple of `unrolled`.
  const float* at(std::int64_t row, std::int64_t k) const {
    return words_ + (row / fragment * across_ + k / fragment) * (fragment * fragment) + (k % fragment == 8 ? 8 : 0);
  }
  // Of four rows and a step.
  template <int four, int step>
  [[gnu::always_inline]] __m512 get(const float* at) const {
    constexpr int b4 = four & 1, b3 = fragment == 16 ? 0 : step >> 2, b0 = fragment == 16 ? step >> 2 : step >> 1 & 1,
                  element = fragment == 16 ? (four >> 1) * 4 + (step & 3) : step & 1;
    const float* next = fragment == 16 ? at : at + (four >> 1) * across_ * (fragment * fragment);
    const float* lanes = next + element * 32 + b4 * 16 + b3 * 8;
    __m512 both = _mm512_castpd_ps(_mm512_broadcast_f64x4(_mm256_loadu_pd(reinterpret_cast<const double*>(lanes))));
    asm("" : "+v"(both));  // duplicated behind the broadcast, which the load does: one permutation, not two
    return b0 == 0 ? _mm512_moveldup_ps(both) : _mm512_movehdup_ps(both);
  }

 private:
  const float* words_;
  std::int64_t across_;
};

// The same out of rows along k, of all rows of the left operand side by side.
template <int fragment>
class TurnedLeft {
 public:
  TurnedLeft(const HeldTile& tile, const float* words) : words_(words), row_(tile.columns()) {}

  const float* at(std::int64_t row, std::int64_t k) const { return words_ + k * row_ + row; }
  template <int four, int step>
  [[gnu::always_inline]] __m512 get(const float* at) const {
    const __m512i places = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3);
    return _mm512_permutevar_ps(_mm512_broadcast_f32x4(_mm_loadu_ps(at + step * row_ + four * 4)), places);
  }

 private:
  const float* words_;
  std::int64_t row_;
};

// Vectors of a right operand for a block of 16 columns.
template <int fragment>
class HeldRight {
 public:
  HeldRight(const HeldTile& tile, const float* words) : words_(words), across_(tile.across) {}

  const float* at(std::int64_t column, std::int64_t k) const {
    return words_ + (k / fragment * across_ + column / fragment) * (fragment * fragment) +
           (k % fragment == 8 ? 128 : 0);
  }
  template <int four, int step>
  [[gnu::always_inline]] __m512 get(const float* at) const {
    constexpr int b4 = step >> 2;
    const __m512d lanes = _mm512_loadu_pd(at + four * 32 + b4 * 16);
    return _mm512_castpd_ps(_mm512_permutex_pd(lanes, (step & 3) * 0x55));
  }

 private:
  const float* words_;
  std::int64_t across_;
};

template <int fragment>
class TurnedRight {
 public:
  TurnedRight(const HeldTile& tile, const float* words) : words_(words), row_(tile.rows()) {}

  const float* at(std::int64_t column, std::int64_t k) const { return words_ + k * row_ + column; }
  template <int four, int step>
  [[gnu::always_inline]] __m512 get(const float* at) const {
    constexpr int first = fragment == 16 ? four : (four >> 1) * 8 + (four & 1), apart = fragment / 4;
    const __m512i columns = _mm512_setr_epi32(0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3);  // b3 b0
    const __m512i places =
        _mm512_add_epi32(_mm512_mullo_epi32(columns, _mm512_set1_epi32(apart)), _mm512_set1_epi32(first));
    return _mm512_permutexvar_ps(places, _mm512_loadu_ps(at + step * row_));
  }

 private:
  const float* words_;
  std::int64_t row_;
};

using Sums = __m512[4][4];

template <int number, typename Left, typename Right>
[[gnu::always_inline]] inline void add_step(const Left& left, const Right& right, const float* left_at,
                                            const float* right_at, Sums& sums) {
  // Each step loads anew: what compilers would keep of a step for the next goes to the stack, and there it may lie a
  // multiple of 4 KiB from operands, which processors then wait for.
  asm("" : "+r"(left_at), "+r"(right_at));
  const __m512 columns[4] = {right.template get<0, number>(right_at), right.template get<1, number>(right_at),
                             right.template get<2, number>(right_at), right.template get<3, number>(right_at)};
  const __m512 rows[4] = {left.template get<0, number>(left_at), left.template get<1, number>(left_at),
                          left.template get<2, number>(left_at), left.template get<3, number>(left_at)};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) sums[i][j] = _mm512_fmadd_ps(rows[i], columns[j], sums[i][j]);
  }
  if constexpr (number + 1 < unrolled) add_step<number + 1>(left, right, left_at, right_at, sums);
}

// Blocks of 16 x 16 sums, which registers hold.
template <int fragment, typename Left, typename Right>
void multiply_blocks(const HeldProduct& product, const Left& left, const Right& right) {
  const HeldTile& tile = product.destination;
  for (std::int64_t row = 0; row < tile.rows(); row += 16) {
    for (std::int64_t column = 0; column < tile.columns(); column += 16) {
      float* const block = reinterpret_cast<float*>(tile.address) +
                           (row / fragment * tile.across + column / fragment) * (fragment * fragment);
      const std::int64_t next_down = fragment == 16 ? 128 : tile.across * 64;
      const auto place = [&](int i, int j) { return block + (i >> 1) * next_down + (i & 1) * 16 + j * 32; };
      Sums sums;
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          sums[i][j] = product.accumulates ? _mm512_loadu_ps(place(i, j)) : _mm512_setzero_ps();
        }
      }
      for (std::int64_t k = 0; k < product.k; k += unrolled) {
        add_step<0>(left, right, left.at(row, k), right.at(column, k), sums);
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) _mm512_storeu_ps(place(i, j), sums[i][j]);
      }
    }
  }
}

// What lanes hold, as floats; narrower ones are widened to `scratch`.
inline const float* floats_of(const HeldTile& tile, TileElement element, std::uint32_t* scratch) {
  const auto count = static_cast<int>(tile.rows() * tile.columns());
  if (element == TileElement::f32) return reinterpret_cast<const float*>(tile.address);
  if (element == TileElement::f16) {
    widen<Half>(tile.address, scratch, count);
  } else {
    widen<Bfloat>(tile.address, scratch, count);
  }
  return reinterpret_cast<const float*>(scratch);
}

// Rows of what lanes hold as floats.
template <int fragment>
void read_floats(const HeldTile& tile, const float* words, std::uint32_t* rows) {
  HeldTile own = tile;
  own.address = reinterpret_cast<std::byte*>(const_cast<float*>(words));
  own.lane_distance = own.element = sizeof(float);
  own.element_distance = 32 * sizeof(float);
  const std::int64_t row = tile.columns() * static_cast<std::int64_t>(sizeof(float));
  move_fragments<Same<std::uint32_t>, fragment, true>(own, {reinterpret_cast<std::byte*>(rows), row});
}

template <int fragment, typename Left>
void multiply_left(const HeldProduct& product, ProductScratch& scratch, const Left& left) {
  const HeldTile& tile = product.right;
  const float* words = floats_of(tile, product.right_element, scratch.right);
  if (!product.right_is_transposed) return multiply_blocks<fragment>(product, left, HeldRight<fragment>(tile, words));
  read_floats<fragment>(tile, words, scratch.turned);
  const auto rows = static_cast<int>(tile.rows()), columns = static_cast<int>(tile.columns());
  turn_words(scratch.turned, columns, scratch.right, rows, rows, columns);
  words = reinterpret_cast<const float*>(scratch.right);
  multiply_blocks<fragment>(product, left, TurnedRight<fragment>(tile, words));
}

template <int fragment>
void multiply_fragments(const HeldProduct& product, ProductScratch& scratch) {
  const HeldTile& tile = product.left;
  const float* words = floats_of(tile, product.left_element, scratch.left);
  if (!product.left_is_transposed) return multiply_left<fragment>(product, scratch, HeldLeft<fragment>(tile, words));
  read_floats<fragment>(tile, words, scratch.sums);
  words = reinterpret_cast<const float*>(scratch.sums);
  multiply_left<fragment>(product, scratch, TurnedLeft<fragment>(tile, words));
}

// False: not one of these.
inline bool multiply_held(const HeldProduct& product, ProductScratch& scratch) {
  const HeldTile &left = product.left, &right = product.right, &destination = product.destination;
  const auto fits = [&](const HeldTile& tile, std::int64_t rows, std::int64_t columns, bool is_transposed) {
    if (is_transposed) std::swap(rows, columns);
    return tile.fragment == destination.fragment && tile.lane_distance == tile.element && tile.rows() == rows &&
           tile.columns() == columns && rows * columns <= ProductScratch::depth * ProductScratch::columns;
  };
  const std::int64_t rows = destination.rows(), columns = destination.columns();
  if (rows % 16 != 0 || columns % 16 != 0 || product.k % destination.fragment != 0) return false;
  if (!fits(destination, rows, columns, false) || !fits(left, rows, product.k, product.left_is_transposed) ||
      !fits(right, product.k, columns, product.right_is_transposed)) {
    return false;
  }
  destination.fragment == 16 ? multiply_fragments<16>(product, scratch) : multiply_fragments<8>(product, scratch);
  return true;
}

#else

inline bool multiply_held(const HeldProduct&, ProductScratch&) { return false; }

#endif

}  // namespace
}  // namespace metalloid::engines::simd
