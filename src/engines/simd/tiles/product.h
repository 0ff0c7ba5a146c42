// Code for tiles in memory: products, with panels in the order of the loops and sums in registers, and copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/simd/tiles/held_tiles.h"
#include "ir/tile_elements.h"

namespace metalloid::engines::simd {

// Element (row, column) is `first + row * down + column * across` elements behind the address; of 4 bits, half as many
// bytes. Outside, elements are zero and not written.
struct TileMatrix {
  std::byte* address;
  std::int64_t rows, columns, down, across, first;
  ir::TileElement element;
};

// destination = left * right, or destination + left * right, for the destination's rows [0, m) and columns [0, n).
struct TileProduct {
  TileMatrix left, right, destination;
  std::int64_t m, n, k;
  bool accumulates, is_relaxed;
  // Instead of the matrices' memory, of products in float that fit into one block.
  const HeldTile *held_left = nullptr, *held_right = nullptr, *held_destination = nullptr;
};

// destination = left * right, or destination + left * right, of tiles that one simdgroup holds, with sums in float.
struct HeldProduct {
  const HeldTile &left, &right, &destination;
  ir::TileElement left_element, right_element;  // floats; the destination's is f32
  std::int64_t k;
  bool left_is_transposed, right_is_transposed, accumulates;
};

// What a thread of the host works in.
struct ProductScratch {
  static constexpr int rows = 128, columns = 128, depth = 128;  // words
  static constexpr int left_row = depth + 16;                   // so that rows do not meet in a cache
  alignas(64) std::uint32_t left[rows * left_row];
  alignas(64) std::uint32_t right[depth * columns];
  alignas(64) std::uint32_t sums[rows * columns];
  alignas(64) std::uint32_t turned[depth * columns];  // on its way
  std::vector<std::byte> held[3];                     // left, right and destination, row by row
};

// Whether products that hold some of their tiles need no copies of them.
inline bool are_held_at_once(const TileProduct& product) {
  return product.m <= ProductScratch::rows && product.n <= ProductScratch::columns &&
         product.k <= ProductScratch::depth;
}

// For processors with certain instructions.
struct TileCode {
  int columns;  // of a panel of the right operand: fragments that are wider are not held there
  void (*multiply)(const TileProduct& product, ProductScratch& scratch);
  // False: it is not one that there is code for.
  bool (*multiply_held)(const HeldProduct& product, ProductScratch& scratch);
  // Elements [0, rows) x [0, columns) become those of another tile, zero where that has none; both in float formats, or
  // both integers. They are in the destination.
  void (*copy)(const TileMatrix& from, const TileMatrix& to, std::int64_t rows, std::int64_t columns);
  void (*read_held)(const HeldTile& tile, const HeldRows& rows);
  void (*write_held)(const HeldTile& tile, const HeldRows& rows);
};

extern const TileCode plain_code;
#if defined(__x86_64__)
extern const TileCode avx2_code, avx512_code, avx512_dot_code;  // `dot`: with BF16 and VNNI
#endif

}  // namespace metalloid::engines::simd
