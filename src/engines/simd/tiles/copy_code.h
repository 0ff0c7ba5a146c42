// copy: from tile to tile, for the instructions of the file that includes this.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engines/simd/tiles/elements.h"

namespace metalloid::engines::simd {
namespace {

struct AsLong {
  using Element = std::int64_t;
  template <typename T>
  [[gnu::always_inline]] static std::int64_t of(T value) {
    return static_cast<std::int64_t>(number(value));
  }
};

template <typename As>
void copy_as(const TileMatrix& from, const TileMatrix& to, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t most = 128;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t first = 0; first < columns; first += most) {
      typename As::Element elements[most];
      const auto count = static_cast<int>(std::min(most, columns - first));
      const std::int64_t there = row < from.rows ? std::clamp<std::int64_t>(from.columns - first, 0, count) : 0;
      if (there > 0) {
        read_elements<As>(from, from.first + row * from.down + first * from.across, from.across,
                          static_cast<int>(there), elements);
      }
      for (std::int64_t i = there; i < count; ++i) elements[i] = 0;
      write_elements(to, to.first + row * to.down + first * to.across, to.across, count, elements);
    }
  }
}

// Elements that stay what they are, side by side.
inline void copy_rows(const TileMatrix& from, const TileMatrix& to, std::int64_t rows, std::int64_t columns,
                      std::int64_t size) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t there = row < from.rows ? std::clamp<std::int64_t>(from.columns, 0, columns) : 0;
    const std::byte* source = from.address + (from.first + row * from.down) * size;
    std::byte* target = to.address + (to.first + row * to.down) * size;
    std::int64_t i = 0;
    for (; i + width * 4 <= there * size; i += width * 4) {
      store(reinterpret_cast<std::uint32_t*>(target + i), load(reinterpret_cast<const std::uint32_t*>(source + i)));
    }
    for (; i < there * size; ++i) target[i] = source[i];
    for (; i < columns * size; ++i) target[i] = std::byte{0};
  }
}

inline void copy(const TileMatrix& from, const TileMatrix& to, std::int64_t rows, std::int64_t columns) {
  if (from.element == to.element && from.across == 1 && to.across == 1) {
    return copy_rows(from, to, rows, columns, bytes_of(to.element));
  }
  if (is_float(to.element)) return copy_as<AsFloat>(from, to, rows, columns);
  copy_as<AsLong>(from, to, rows, columns);
}

}  // namespace
}  // namespace metalloid::engines::simd
