// Memory that is asked for before it is wanted, for the instructions of the file that includes this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engines/simd/tiles/product.h"

namespace metalloid::engines::simd {
namespace {

// A part of a matrix on its way into the second level of caches, a line at a time.
class Ahead {
 public:
  Ahead() = default;
  Ahead(const TileMatrix& matrix, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
    std::int64_t count = std::min(rows, matrix.rows - row), length = std::min(columns, matrix.columns - column);
    std::int64_t distance = matrix.down, along = matrix.across;
    if (along != 1) {
      std::swap(count, length);
      std::swap(distance, along);
    }
    if (along != 1 || count <= 0 || length <= 0) return;
    const bool is_nibble = matrix.element == ir::TileElement::i4 || matrix.element == ir::TileElement::u4;
    const std::int64_t size = ir::bytes_of(matrix.element);
    const auto bytes = [&](std::int64_t elements) { return is_nibble ? elements / 2 : elements * size; };
    if (count > 1 && bytes(distance) <= followed) return;
    const std::byte* first = matrix.address + bytes(matrix.first + row * matrix.down + column * matrix.across);
    row_ = first - reinterpret_cast<std::uintptr_t>(first) % line;
    length_ = first + bytes(length) - row_;
    rows_ = count;
    distance_ = bytes(distance);
  }

  void ask(int lines) {
    for (; lines > 0 && rows_ > 0; --lines) {
      __builtin_prefetch(row_ + at_, 0, 2);
      at_ += line;
      if (at_ < length_) continue;
      at_ = 0;
      row_ += distance_;
      --rows_;
    }
  }

 private:
  static constexpr std::int64_t line = 64;
  static constexpr std::int64_t followed = 1024;  // bytes between rows that processors follow by themselves

  const std::byte* row_ = nullptr;
  std::int64_t at_ = 0, length_ = 0, distance_ = 0;  // bytes
  std::int64_t rows_ = 0;                            // that are left
};

}  // namespace
}  // namespace metalloid::engines::simd
