// Operands of products on their way from memory to the order of the loops: rows of words along k, and panels of
// columns. For the instructions of the file that includes this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engines/simd/tiles/elements.h"

namespace metalloid::engines::simd {
namespace {

constexpr int pair = 2 * width;  // words of two vectors: columns of a panel

// Words from rows into columns.
inline void turn_words(const std::uint32_t* from, int from_row, std::uint32_t* to, int to_row, int rows, int columns) {
  int i = 0;
#if defined(__AVX2__)
  constexpr int side = 8;
  for (; i + side <= rows; i += side) {
    int j = 0;
    for (; j + side <= columns; j += side) {
      __m256 in[side], half[side];
      for (int x = 0; x < side; ++x) {
        in[x] = _mm256_loadu_ps(reinterpret_cast<const float*>(from + (i + x) * from_row + j));
      }
      for (int x = 0; x < side; x += 2) {
        half[x] = _mm256_unpacklo_ps(in[x], in[x + 1]);
        half[x + 1] = _mm256_unpackhi_ps(in[x], in[x + 1]);
      }
      for (int x = 0; x < side; x += 4) {
        in[x] = _mm256_shuffle_ps(half[x], half[x + 2], 0x44);
        in[x + 1] = _mm256_shuffle_ps(half[x], half[x + 2], 0xee);
        in[x + 2] = _mm256_shuffle_ps(half[x + 1], half[x + 3], 0x44);
        in[x + 3] = _mm256_shuffle_ps(half[x + 1], half[x + 3], 0xee);
      }
      for (int x = 0; x < 4; ++x) {
        float* place = reinterpret_cast<float*>(to + (j + x) * to_row + i);
        _mm256_storeu_ps(place, _mm256_permute2f128_ps(in[x], in[x + 4], 0x20));
        place = reinterpret_cast<float*>(to + (j + x + 4) * to_row + i);
        _mm256_storeu_ps(place, _mm256_permute2f128_ps(in[x], in[x + 4], 0x31));
      }
    }
    for (; j < columns; ++j) {
      for (int x = 0; x < side; ++x) to[j * to_row + i + x] = from[(i + x) * from_row + j];
    }
  }
#endif
  for (; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) to[j * to_row + i] = from[i * from_row + j];
  }
}

// An operand's part: `count` rows of the left one, or columns of the right one, along k.
struct Strip {
  const TileMatrix& matrix;
  std::int64_t first, k;     // of the matrix
  std::int64_t along, next;  // elements from one k to the next, and from one row of the strip
  std::int64_t size, depth;  // of the matrix
  int count, steps;          // steps: of k, all that there are
};

inline const std::byte* address_of(const Strip& strip, std::int64_t row, std::int64_t k) {
  const std::int64_t place = strip.matrix.first + row * strip.next + k * strip.along;
  return strip.matrix.address + place * bytes_of(strip.matrix.element);
}

// Words of what rows of elements have side by side.
template <int elements, std::uint32_t turned>
[[gnu::always_inline]] inline void zip_rows(const std::byte* from, std::int64_t distance, std::uint32_t* to,
                                            int count) {
  if constexpr (elements == 1) {
    copy_words<turned>(from, to, count);
  } else {
    using Bits = std::conditional_t<elements == 2, std::uint16_t, std::uint8_t>;
    int at = 0;
#if defined(__AVX512F__)
    for (; at + width <= count; at += width) {
      Words words = all(turned);
      for (int i = 0; i < elements; ++i) {
        const std::byte* row = from + i * distance + at * static_cast<int>(sizeof(Bits));
        __m512i own;
        if constexpr (elements == 2) {
          own = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row)));
        } else {
          own = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row)));
        }
        words ^= reinterpret_cast<Words>(own) << (32 / elements * i);
      }
      store(to + at, words);
    }
#endif
    for (; at < count; ++at) {
      std::uint32_t word = turned;
      for (int i = 0; i < elements; ++i) {
        word ^= std::uint32_t{element_at<Bits>(from + i * distance, at)} << (32 / elements * i);
      }
      to[at] = word;
    }
  }
}

// Rows of words. Whole words are written, of elements that are not there zero.
template <typename As, int elements>
void read_rows(const Strip& strip, typename As::Element zero, std::uint32_t* to, int to_row) {
  const int there = static_cast<int>(std::clamp<std::int64_t>(strip.depth - strip.k, 0, strip.steps));
  const bool is_as_it_is =
      As::takes(strip.matrix.element) && strip.along == 1 && there == strip.steps && there % elements == 0;
  for (int i = 0; i < strip.count; ++i) {
    if (is_as_it_is && strip.first + i < strip.size) {
      copy_words<As::turned>(address_of(strip, strip.first + i, strip.k), to + i * to_row, there / elements);
      continue;
    }
    typename As::Element row[ProductScratch::depth * elements];
    const int count = strip.first + i < strip.size ? there : 0;
    const std::int64_t place = strip.matrix.first + (strip.first + i) * strip.next + strip.k * strip.along;
    if (count > 0) read_elements<As>(strip.matrix, place, strip.along, count, row);
    for (int k = count; k < strip.steps; ++k) row[k] = zero;
    const int words = (strip.steps + elements - 1) / elements;
    for (int k = strip.steps; k < words * elements; ++k) row[k] = 0;
    std::memcpy(to + i * to_row, row, static_cast<std::size_t>(words) * sizeof(std::uint32_t));
  }
}

// The same, turned: a row of words for each word of k, of which every `group` columns are a matrix of their own.
template <typename As, int elements>
void read_columns(const Strip& strip, typename As::Element zero, std::uint32_t* to, int group) {
  const int words = (strip.steps + elements - 1) / elements;
  const bool is_as_it_is = As::takes(strip.matrix.element) && strip.next == 1;
  const std::int64_t along = strip.along * bytes_of(strip.matrix.element);
  for (int first = 0; first < strip.count; first += group) {
    const int own = std::min(group, strip.count - first);
    const int there = static_cast<int>(std::clamp<std::int64_t>(strip.size - strip.first - first, 0, own));
    for (int word = 0; word < words; ++word, to += group) {
      const int end = (word + 1) * elements;
      if (is_as_it_is && there == group && end <= strip.steps && strip.k + end <= strip.depth) {
        const std::byte* from = address_of(strip, strip.first + first, strip.k + word * elements);
        zip_rows<elements, As::turned>(from, along, to, group);
        continue;
      }
      typename As::Element rows[elements][ProductScratch::columns];
      for (int i = 0; i < elements; ++i) {
        const int k = word * elements + i;
        const int count = k < strip.steps && strip.k + k < strip.depth ? there : 0;
        const std::int64_t place =
            strip.matrix.first + (strip.first + first) * strip.next + (strip.k + k) * strip.along;
        if (count > 0) read_elements<As>(strip.matrix, place, strip.next, count, rows[i]);
        for (int at = count; at < group; ++at) rows[i][at] = k < strip.steps ? zero : typename As::Element{};
      }
      if constexpr (elements == 1) {
        std::memcpy(to, rows[0], static_cast<std::size_t>(group) * sizeof(std::uint32_t));
      } else {
        using Bits = std::make_unsigned_t<typename As::Element>;
        for (int at = 0; at < group; ++at) {
          std::uint32_t all = 0;
          for (int i = 0; i < elements; ++i) {
            all |= std::uint32_t{static_cast<Bits>(rows[i][at])} << (32 / elements * i);
          }
          to[at] = all;
        }
      }
    }
  }
}

}  // namespace
}  // namespace metalloid::engines::simd
