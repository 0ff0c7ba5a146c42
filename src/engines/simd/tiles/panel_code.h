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

#if defined(__AVX512F__)
// Words of an element of each of two rows.
struct WordPair {
  Words low, high;
};
[[gnu::always_inline]] inline WordPair zip_shorts(__m512i a, __m512i b) {
  // Quarters have columns 0-3, 8-11, ... and 4-7, 12-15, ...
  const __m512i low = _mm512_unpacklo_epi16(a, b), high = _mm512_unpackhi_epi16(a, b);
  const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  return {reinterpret_cast<Words>(_mm512_permutex2var_epi64(low, first, high)),
          reinterpret_cast<Words>(_mm512_permutex2var_epi64(low, second, high))};
}
#endif

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
    if constexpr (elements == 2) {
      for (; at + 2 * width <= count; at += 2 * width) {
        const std::byte* row = from + at * static_cast<int>(sizeof(Bits));
        const WordPair words = zip_shorts(_mm512_loadu_si512(row), _mm512_loadu_si512(row + distance));
        store(to + at, words.low ^ all(turned));
        store(to + at + width, words.high ^ all(turned));
      }
    }
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

// Calls `read` with what elements that lie side by side are read as: what steps take, or narrower floats.
template <typename As, typename Read>
[[gnu::always_inline]] inline void with_elements(TileElement element, const Read& read) {
  if constexpr (std::is_same_v<As, AsFloat>) {
    if (element == TileElement::f16) return read(Half{});
    if (element == TileElement::bf16) return read(Bfloat{});
  }
  read(typename As::Element{});
}
template <typename As, typename From>
bool are_read_at_once(const Strip& strip, std::int64_t distance) {
  return distance == 1 && (is_narrow_float<From> || As::takes(strip.matrix.element));
}

// Rows of words. Whole words are written, of elements that are not there zero.
template <typename As, int elements, typename From>
void read_rows_of(const Strip& strip, typename As::Element zero, std::uint32_t* to, int to_row) {
  const int there = static_cast<int>(std::clamp<std::int64_t>(strip.depth - strip.k, 0, strip.steps));
  const bool at_once = are_read_at_once<As, From>(strip, strip.along) && there == strip.steps && there % elements == 0;
  for (int i = 0; i < strip.count; ++i) {
    if (at_once && strip.first + i < strip.size) {
      const std::byte* from = address_of(strip, strip.first + i, strip.k);
      if constexpr (is_narrow_float<From>) {
        widen<From>(from, to + i * to_row, there);
      } else {
        copy_words<As::turned>(from, to + i * to_row, there / elements);
      }
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

template <typename As, int elements>
void read_rows(const Strip& strip, typename As::Element zero, std::uint32_t* to, int to_row) {
  with_elements<As>(strip.matrix.element,
                    [&]<typename From>(From) { read_rows_of<As, elements, From>(strip, zero, to, to_row); });
}

// The same, turned: a row of words for each word of k, of which every `group` columns are a matrix of their own. What
// lies side by side is read together.
template <typename As, int elements, typename From>
void read_columns_of(const Strip& strip, typename As::Element zero, std::uint32_t* panels, int group) {
  const int words = (strip.steps + elements - 1) / elements;
  // What is there of whole words and groups.
  const bool at_once = are_read_at_once<As, From>(strip, strip.next);
  const auto whole = [&](std::int64_t count, int most, int unit) {
    return at_once ? static_cast<int>(std::clamp<std::int64_t>(count, 0, most)) / unit : 0;
  };
  const int whole_words = whole(strip.depth - strip.k, strip.steps, elements);
  const int whole_columns = whole(strip.size - strip.first, strip.count, group) * group;
  const std::int64_t size = bytes_of(strip.matrix.element), along = strip.along * size;
  const bool is_any_whole = whole_words > 0 && whole_columns > 0;
  const std::byte* from = is_any_whole ? address_of(strip, strip.first, strip.k) : nullptr;
  for (int word = 0; word < words; ++word) {
    int first = 0;
    if (is_any_whole && word < whole_words) {
      for (; first < whole_columns; first += group) {
        std::uint32_t* to = panels + first * words + word * group;
        if constexpr (is_narrow_float<From>) {
          widen<From>(from + first * size, to, group);
        } else {
          zip_rows<elements, As::turned>(from + first * size, along, to, group);
        }
      }
      from += elements * along;
    }
    for (; first < strip.count; first += group) {
      const int own = std::min(group, strip.count - first);
      const int there = static_cast<int>(std::clamp<std::int64_t>(strip.size - strip.first - first, 0, own));
      std::uint32_t* to = panels + first * words + word * group;
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
template <typename As, int elements>
void read_columns(const Strip& strip, typename As::Element zero, std::uint32_t* panels, int group) {
  with_elements<As>(strip.matrix.element,
                    [&]<typename From>(From) { read_columns_of<As, elements, From>(strip, zero, panels, group); });
}

}  // namespace
}  // namespace metalloid::engines::simd
