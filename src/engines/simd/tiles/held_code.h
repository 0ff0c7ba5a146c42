// read_held and write_held: between what lanes hold of a tile and rows of it, for the instructions of the file that
// includes this.
//
// With the bits of a lane's number b4 ... b0 and of an element's of the lane, a fragment of 16 rows is
// (ir/operations.def)
//
//   row = element 2, b4, b2, b1    column = b3, b0, element 1, element 0
//
// and one of 8 has b4, b2, b1 and b3, b0, element 0. Vectors of lanes b2 b1 b0 become vectors of columns by
// transpositions of 2 x 2: of what lies side by side, of pairs, and of halves.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engines/simd/tiles/elements.h"
#include "engines/simd/tiles/held_strips.h"
#include "engines/simd/tiles/held_tiles.h"

namespace metalloid::engines::simd {
namespace {

// Elements stay what they are between the lanes' memory and rows, or rows have floats.
template <typename T>
struct Same {
  using Held = T;
  using InRows = T;
  static T to_row(T value) { return value; }
  static T to_lane(T value) { return value; }
};
template <typename T>
struct InFloat {
  using Held = T;
  using InRows = float;
  static float to_row(T value) { return number(value); }
  static T to_lane(float value) {
    if constexpr (std::is_same_v<T, Half>) {
      return to_half(value);
    } else {
      return to_bfloat(value);
    }
  }
};

// One element after the other.
template <typename As, int fragment, bool reads>
void move_elements(const HeldTile& tile, std::byte* first, const HeldRows& rows, std::byte* place) {
  using Held = typename As::Held;
  using InRows = typename As::InRows;
  constexpr int columns = fragment / 4, elements = fragment * fragment / 32;  // a lane has
  for (int lane = 0; lane < 32; ++lane) {
    const int row = (lane >> 4 & 1) * 4 + (lane >> 2 & 1) * 2 + (lane >> 1 & 1);
    const int column = ((lane >> 3 & 1) * 2 + (lane & 1)) * columns;
    for (int i = 0; i < elements; ++i) {
      std::byte* held = first + lane * tile.lane_distance + i * tile.element_distance;
      std::byte* in_rows = place + (row + i / columns * 8) * rows.row +
                           (column + i % columns) * static_cast<std::int64_t>(sizeof(InRows));
      if constexpr (reads) {
        const InRows value = As::to_row(element_at<Held>(held, 0));
        std::memcpy(in_rows, &value, sizeof(value));
      } else {
        const Held value = As::to_lane(element_at<InRows>(in_rows, 0));
        std::memcpy(held, &value, sizeof(value));
      }
    }
  }
}

#if defined(__AVX2__)

// Eight elements in 32 bits each, as they are or as floats.
template <typename T>
[[gnu::always_inline]] inline __m256 load_eight(const std::byte* from) {
  __m256i words;
  if constexpr (sizeof(T) == 4) {
    words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  } else if constexpr (sizeof(T) == 2) {
    words = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  } else {
    words = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  return _mm256_castsi256_ps(words);
}
template <typename T>
[[gnu::always_inline]] inline void store_eight(std::byte* to, __m256 eight) {
  const __m256i words = _mm256_castps_si256(eight);
  if constexpr (sizeof(T) == 4) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), words);
    return;
  }
  const __m128i halves = _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  if constexpr (sizeof(T) == 2) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), halves);
  } else {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(halves, halves));
  }
}
template <typename As>
[[gnu::always_inline]] inline __m256 load_lanes(const std::byte* from) {
  using T = typename As::Held;
  if constexpr (std::is_same_v<As, InFloat<Half>>) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  const __m256 eight = load_eight<T>(from);
  if constexpr (!std::is_same_v<As, InFloat<Bfloat>>) return eight;
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(eight), 16));
}
template <typename As>
[[gnu::always_inline]] inline void store_lanes(std::byte* to, __m256 eight) {
  using T = typename As::Held;
  if constexpr (std::is_same_v<As, InFloat<Half>>) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(eight, _MM_FROUND_TO_NEAREST_INT));
  } else if constexpr (std::is_same_v<As, InFloat<Bfloat>>) {
    const __m256i bits = _mm256_castps_si256(eight), upper = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    const __m256 is_nan = _mm256_cmp_ps(eight, eight, _CMP_UNORD_Q);
    const __m256 quiet = _mm256_castsi256_ps(_mm256_or_si256(upper, _mm256_set1_epi32(0x40)));
    store_eight<T>(to, _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_srli_epi32(sum, 16)), quiet, is_nan));
  } else {
    store_eight<T>(to, eight);
  }
}

// What lies side by side: of b1 b0 in each half of a vector and a bit in the vectors' number, b0 and that bit, for both
// values of b1. And back.
struct Pair {
  __m256 low, high;
};
[[gnu::always_inline]] inline Pair zip(__m256 a, __m256 b) {
  return {_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)};
}
[[gnu::always_inline]] inline Pair unzip(__m256 a, __m256 b) {
  return {_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd)};
}
// Pairs of words, and halves of vectors: their own opposites.
[[gnu::always_inline]] inline Pair turn_pairs(__m256 a, __m256 b) {
  return {_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xee)};
}
[[gnu::always_inline]] inline Pair turn_halves(__m256 a, __m256 b) {
  return {_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31)};
}

// Four rows, of which the even and the odd ones are pairs.
struct FourRows {
  Pair even, odd;
};
template <typename T>
[[gnu::always_inline]] inline FourRows load_rows(const std::byte* place, std::int64_t row) {
  return {{load_eight<T>(place), load_eight<T>(place + 2 * row)},
          {load_eight<T>(place + row), load_eight<T>(place + 3 * row)}};
}
template <typename T>
[[gnu::always_inline]] inline void store_rows(std::byte* place, std::int64_t row, const FourRows& rows) {
  store_eight<T>(place, rows.even.low);
  store_eight<T>(place + row, rows.odd.low);
  store_eight<T>(place + 2 * row, rows.even.high);
  store_eight<T>(place + 3 * row, rows.odd.high);
}
[[gnu::always_inline]] inline Pair turn_halves(Pair pair) { return turn_halves(pair.low, pair.high); }

// A fragment of lanes that take turns. `row` is how many bytes lie between two rows.
template <typename As>
inline void read_eight_rows(const std::byte* held, std::byte* to, std::int64_t row) {
  using T = typename As::InRows;
  constexpr std::int64_t size = sizeof(typename As::Held);
  for (int b4 = 0; b4 < 2; ++b4) {
    Pair rows[2];  // of b3, by b1: b2, b0, e0
    for (int b3 = 0; b3 < 2; ++b3) {
      const std::byte* from = held + (b4 * 16 + b3 * 8) * size;
      rows[b3] = zip(load_lanes<As>(from), load_lanes<As>(from + 32 * size));
    }
    store_rows<T>(to + b4 * 4 * row, row,
                  {turn_halves(rows[0].low, rows[1].low), turn_halves(rows[0].high, rows[1].high)});
  }
}
template <typename As>
inline void write_eight_rows(std::byte* held, const std::byte* from, std::int64_t row) {
  using T = typename As::InRows;
  constexpr std::int64_t size = sizeof(typename As::Held);
  for (int b4 = 0; b4 < 2; ++b4) {
    const FourRows rows = load_rows<T>(from + b4 * 4 * row, row);
    const Pair even = turn_halves(rows.even), odd = turn_halves(rows.odd);
    for (int b3 = 0; b3 < 2; ++b3) {
      const Pair lanes = b3 == 0 ? unzip(even.low, odd.low) : unzip(even.high, odd.high);
      std::byte* to = held + (b4 * 16 + b3 * 8) * size;
      store_lanes<As>(to, lanes.low);
      store_lanes<As>(to + 32 * size, lanes.high);
    }
  }
}

template <typename As>
inline void read_sixteen_rows(const std::byte* held, std::byte* to, std::int64_t row) {
  using T = typename As::InRows;
  constexpr std::int64_t size = sizeof(typename As::Held), in_rows = sizeof(T);
  for (int which = 0; which < 8; ++which) {  // e2, b4, b3
    const int e2 = which >> 2, b4 = which >> 1 & 1, b3 = which & 1;
    const std::byte* from = held + (e2 * 4 * 32 + b4 * 16 + b3 * 8) * size;
    const Pair first = zip(load_lanes<As>(from), load_lanes<As>(from + 32 * size));
    const Pair second = zip(load_lanes<As>(from + 64 * size), load_lanes<As>(from + 96 * size));
    const Pair even = turn_pairs(first.low, second.low), odd = turn_pairs(first.high, second.high);  // by b1
    store_rows<T>(to + (e2 * 8 + b4 * 4) * row + b3 * 8 * in_rows, row, {turn_halves(even), turn_halves(odd)});
  }
}
template <typename As>
inline void write_sixteen_rows(std::byte* held, const std::byte* from, std::int64_t row) {
  using T = typename As::InRows;
  constexpr std::int64_t size = sizeof(typename As::Held), in_rows = sizeof(T);
  for (int which = 0; which < 8; ++which) {
    const int e2 = which >> 2, b4 = which >> 1 & 1, b3 = which & 1;
    const FourRows rows = load_rows<T>(from + (e2 * 8 + b4 * 4) * row + b3 * 8 * in_rows, row);
    const Pair even = turn_halves(rows.even), odd = turn_halves(rows.odd);
    const Pair upper = turn_pairs(even.low, even.high), lower = turn_pairs(odd.low, odd.high);
    const Pair first = unzip(upper.low, lower.low), second = unzip(upper.high, lower.high);
    std::byte* to = held + (e2 * 4 * 32 + b4 * 16 + b3 * 8) * size;
    store_lanes<As>(to, first.low);
    store_lanes<As>(to + 32 * size, first.high);
    store_lanes<As>(to + 64 * size, second.low);
    store_lanes<As>(to + 96 * size, second.high);
  }
}

#endif

// What lanes hold of a fragment from `held` on, and rows from `place` on.
template <typename As, int fragment, bool reads>
void move_fragment(const HeldTile& tile, std::byte* held, const HeldRows& rows, std::byte* place) {
#if defined(__AVX2__)
  if constexpr (sizeof(typename As::Held) <= 4) {
    if (tile.lane_distance == sizeof(typename As::Held)) {
      if constexpr (fragment == 16) {
        return reads ? read_sixteen_rows<As>(held, place, rows.row) : write_sixteen_rows<As>(held, place, rows.row);
      } else {
        return reads ? read_eight_rows<As>(held, place, rows.row) : write_eight_rows<As>(held, place, rows.row);
      }
    }
  }
#endif
  move_elements<As, fragment, reads>(tile, held, rows, place);
}

template <typename As, int fragment, bool reads>
void move_fragments(const HeldTile& tile, const HeldRows& rows) {
#if defined(__AVX512F__)
  using Held = typename As::Held;
  if constexpr (std::is_same_v<As, Same<std::uint32_t>> || (std::is_same_v<As, Same<std::uint16_t>> && !reads)) {
    if (is_in_strips<Held>(tile, rows)) return move_strips<Held, fragment, reads>(tile, rows);
  }
#endif
  constexpr std::int64_t size = sizeof(typename As::InRows);
  std::byte* held = tile.address;
  for (std::int64_t down = 0; down < tile.down; ++down) {
    std::byte* place = rows.address + down * fragment * rows.row;
    std::int64_t in_group = 0;  // column of the group that a fragment begins at
    for (std::int64_t across = 0; across < tile.across; ++across) {
      move_fragment<As, fragment, reads>(tile, held, rows, place);
      held += fragment * fragment / 32 * tile.element_distance;
      place += fragment * size;
      in_group += fragment;
      if (in_group == rows.group) {
        place += rows.group_distance - in_group * size;
        in_group = 0;
      }
    }
  }
}

template <typename As, bool reads>
void move_held(const HeldTile& tile, const HeldRows& rows) {
  tile.fragment == 16 ? move_fragments<As, 16, reads>(tile, rows) : move_fragments<As, 8, reads>(tile, rows);
}

template <bool reads>
void move_same(const HeldTile& tile, const HeldRows& rows) {
  switch (tile.element) {
    case 1: return move_held<Same<std::uint8_t>, reads>(tile, rows);
    case 2: return move_held<Same<std::uint16_t>, reads>(tile, rows);
    case 4: return move_held<Same<std::uint32_t>, reads>(tile, rows);
    default: return move_held<Same<std::uint64_t>, reads>(tile, rows);
  }
}
inline void read_held(const HeldTile& tile, const HeldRows& rows) { move_same<true>(tile, rows); }
inline void write_held(const HeldTile& tile, const HeldRows& rows) { move_same<false>(tile, rows); }

// Rows of floats.
template <bool reads>
void move_floats(const HeldTile& tile, TileElement element, const HeldRows& rows) {
  switch (element) {
    case TileElement::f16: return move_held<InFloat<Half>, reads>(tile, rows);
    case TileElement::bf16: return move_held<InFloat<Bfloat>, reads>(tile, rows);
    default: return move_held<Same<std::uint32_t>, reads>(tile, rows);
  }
}

}  // namespace
}  // namespace metalloid::engines::simd
