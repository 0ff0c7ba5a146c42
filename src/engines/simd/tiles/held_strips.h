// Strips: 16 columns of what lanes hold, of one fragment of 16 or of two of 8 side by side, as rows and back, for the
// instructions of the file that includes this (AVX-512 or none).
//
// With x for the upper bit of a fragment of 16's columns of a lane, or for the fragment of 8 (held_code.h has the other
// bits), a strip of words has four rows, and registers of rows become registers of what lanes hold in two steps:
//
//   register b2 b1, element b3 b0 x e0 or x b3 b0 e0   rows
//   register x b1, element b3 b2 b0 e0                 pairs of words change places
//   register x e0, element b3 b2 b1 b0                 what lanes hold
//
// One of 16 bits has eight rows, of which a register has two: b4 is the upper bit of each element's place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/simd/tiles/elements.h"
#include "engines/simd/tiles/held_tiles.h"

#if defined(__AVX512F__)

namespace metalloid::engines::simd {
namespace {

constexpr int strip_columns = 16;

// Which elements of two registers, one behind the other, become a register.
template <typename T>
struct alignas(64) Places {
  static constexpr int count = 64 / sizeof(T);
  T of[count];

  template <typename PlaceOf>
  explicit constexpr Places(const PlaceOf& place_of) : of() {
    for (int i = 0; i < count; ++i) of[i] = static_cast<T>(place_of(i));
  }
  __m512i load() const { return _mm512_load_si512(of); }
};

// Pairs of words b3 b2 b0 out of b3 b0 x or x b3 b0, and back.
template <int fragment, int x>
constexpr Places<std::uint64_t> pairs_of_lanes([](int i) {
  const int b3 = i >> 2, b2 = i >> 1 & 1, b0 = i & 1;
  return b2 * 8 + (fragment == 16 ? b3 * 4 + b0 * 2 + x : x * 4 + b3 * 2 + b0);
});
template <int fragment, int b2>
constexpr Places<std::uint64_t> pairs_of_rows([](int i) {
  const int x = fragment == 16 ? i & 1 : i >> 2, b3 = fragment == 16 ? i >> 2 : i >> 1 & 1,
            b0 = fragment == 16 ? i >> 1 & 1 : i & 1;
  return x * 8 + b3 * 4 + b2 * 2 + b0;
});
// Of 16 bits: pairs b4 b3 b2 b0 out of b4 b3 b0 x or b4 x b3 b0, and elements b4 b3 b2 b1 b0 out of b4 b3 b2 b0 e0.
template <int fragment, int x>
constexpr Places<std::uint32_t> short_pairs([](int i) {
  const int b4 = i >> 3, b3 = i >> 2 & 1, b2 = i >> 1 & 1, b0 = i & 1;
  return b2 * 16 + b4 * 8 + (fragment == 16 ? b3 * 4 + b0 * 2 + x : x * 4 + b3 * 2 + b0);
});
template <int e0>
constexpr Places<std::uint16_t> shorts([](int i) { return (i >> 1 & 1) * 32 + (i >> 2) * 4 + (i & 1) * 2 + e0; });

// Four rows from `rows` on become words that lanes hold from `held` on.
template <int fragment>
[[gnu::always_inline]] inline void hold_words(std::byte* held, const std::byte* rows, std::int64_t row) {
  constexpr int next = 128;  // bytes from one element of a lane to its next
  __m512i in[4];
  for (int i = 0; i < 4; ++i) in[i] = _mm512_loadu_si512(rows + i * row);
  const auto lanes = [&]<int x>() {
    const __m512i places = pairs_of_lanes<fragment, x>.load();
    const __m512 first = _mm512_castsi512_ps(_mm512_permutex2var_epi64(in[0], places, in[2]));
    const __m512 second = _mm512_castsi512_ps(_mm512_permutex2var_epi64(in[1], places, in[3]));
    _mm512_storeu_ps(held + 2 * x * next, _mm512_shuffle_ps(first, second, 0x88));
    _mm512_storeu_ps(held + (2 * x + 1) * next, _mm512_shuffle_ps(first, second, 0xdd));
  };
  lanes.template operator()<0>();
  lanes.template operator()<1>();
}
template <int fragment>
[[gnu::always_inline]] inline void words_to_rows(const std::byte* held, std::byte* rows, std::int64_t row) {
  constexpr int next = 128;
  __m512i low[2], high[2];  // by x, of b1 = 0 and 1
  for (int x = 0; x < 2; ++x) {
    const __m512i even = _mm512_loadu_si512(held + 2 * x * next), odd = _mm512_loadu_si512(held + (2 * x + 1) * next);
    low[x] = _mm512_unpacklo_epi32(even, odd);
    high[x] = _mm512_unpackhi_epi32(even, odd);
  }
  const auto two_rows = [&]<int b2>() {
    const __m512i places = pairs_of_rows<fragment, b2>.load();
    _mm512_storeu_si512(rows + 2 * b2 * row, _mm512_permutex2var_epi64(low[0], places, low[1]));
    _mm512_storeu_si512(rows + (2 * b2 + 1) * row, _mm512_permutex2var_epi64(high[0], places, high[1]));
  };
  two_rows.template operator()<0>();
  two_rows.template operator()<1>();
}

// Eight rows of 16 bits.
template <int fragment>
[[gnu::always_inline]] inline void hold_shorts(std::byte* held, const std::byte* rows, std::int64_t row) {
  __m512i in[4];
  for (int i = 0; i < 4; ++i) {
    const __m256i upper = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows + i * row));
    const __m256i lower = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows + (i + 4) * row));
    in[i] = _mm512_inserti64x4(_mm512_castsi256_si512(upper), lower, 1);
  }
  const auto lanes = [&]<int x>() {
    const __m512i places = short_pairs<fragment, x>.load();
    const __m512i first = _mm512_permutex2var_epi32(in[0], places, in[2]);
    const __m512i second = _mm512_permutex2var_epi32(in[1], places, in[3]);
    _mm512_storeu_si512(held + 2 * x * 64, _mm512_permutex2var_epi16(first, shorts<0>.load(), second));
    _mm512_storeu_si512(held + (2 * x + 1) * 64, _mm512_permutex2var_epi16(first, shorts<1>.load(), second));
  };
  lanes.template operator()<0>();
  lanes.template operator()<1>();
}

// Whether a tile's lanes take turns and it is strips, as are its rows.
template <typename T>
bool is_in_strips(const HeldTile& tile, const HeldRows& rows) {
  const bool are_rows = rows.group >= tile.columns() || rows.group % strip_columns == 0;
  return tile.lane_distance == sizeof(T) && tile.columns() % strip_columns == 0 && are_rows;
}

// Calls `move` with what lanes hold of a strip, where its rows begin, and which of the fragment it is.
template <typename T, int fragment, typename Move>
[[gnu::always_inline]] inline void for_each_strip(const HeldTile& tile, const HeldRows& rows, const Move& move) {
  constexpr int height = sizeof(T) == 4 ? 4 : 8, size = sizeof(T);
  for (std::int64_t down = 0; down < tile.down; ++down) {
    std::byte* first = tile.address + down * tile.across * fragment * fragment * size;
    for (int upper = 0; upper < fragment; upper += height) {
      // Elements of the row 8 below follow those of all columns; of words, b4 is the upper half of a register's pair.
      std::byte* held = first + upper / 8 * (4 * 32 * size) + (upper % 8 != 0 ? 64 : 0);
      std::byte* at = rows.address + (down * fragment + upper) * rows.row;
      for (std::int64_t column = 0, in_group = 0; column < tile.columns(); column += strip_columns) {
        move(held, at);
        held += strip_columns * fragment * size;
        in_group += strip_columns;
        at += strip_columns * size;
        if (in_group == rows.group) {
          at += rows.group_distance - in_group * size;
          in_group = 0;
        }
      }
    }
  }
}

template <typename T, int fragment, bool reads>
void move_strips(const HeldTile& tile, const HeldRows& rows) {
  for_each_strip<T, fragment>(tile, rows, [&](std::byte* held, std::byte* at) {
    if constexpr (sizeof(T) == 2) {
      hold_shorts<fragment>(held, at, rows.row);
    } else if constexpr (reads) {
      words_to_rows<fragment>(held, at, rows.row);
    } else {
      hold_words<fragment>(held, at, rows.row);
    }
  });
}

}  // namespace
}  // namespace metalloid::engines::simd

#endif
