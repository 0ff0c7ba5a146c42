#include "engines/simd/tiles/tile_calls.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "engines/simd/tiles/held_tiles.h"
#include "engines/simd/tiles/product.h"

namespace metalloid::engines::simd {
namespace {

// As tiles come (ir/operations.def).
struct Tile {
  std::byte* address;
  std::int64_t columns, rows, across, down, first;
  std::uint32_t element_number, is_held;

  ir::TileElement element() const { return static_cast<ir::TileElement>(element_number); }
};

TileMatrix in_memory(const Tile& tile, bool is_transposed) {
  TileMatrix matrix{tile.address, tile.rows, tile.columns, tile.down, tile.across, tile.first, tile.element()};
  if (is_transposed) {
    std::swap(matrix.rows, matrix.columns);
    std::swap(matrix.down, matrix.across);
  }
  return matrix;
}

HeldTile held(const Tile& tile, std::uint32_t first_thread) {
  return {tile.address,
          tile.rows,
          tile.columns,
          static_cast<int>(tile.across),
          static_cast<int>(tile.down),
          tile.down == 1 ? 0 : static_cast<int>(first_thread / 32),
          tile.first,
          static_cast<int>(ir::bytes_of(tile.element()))};
}

// A place for the simdgroup's part of a held tile, as a tile in memory.
Tile beside(const Tile& tile, const HeldTile& part, std::vector<std::byte>& memory) {
  const std::int64_t rows = part.rows(), columns = part.columns();
  memory.resize(std::max(memory.size(), static_cast<std::size_t>(rows * columns * part.element)));
  Tile made = tile;
  made.address = memory.data();
  made.rows = std::clamp<std::int64_t>(tile.rows - part.first_row, 0, rows);
  made.columns = std::clamp<std::int64_t>(tile.columns - part.first_column, 0, columns);
  made.across = 1;
  made.down = columns;
  made.first = made.is_held = 0;
  return made;
}

// Of a tile in memory, what belongs to the part.
TileMatrix part_of(const Tile& tile, const HeldTile& part) {
  TileMatrix matrix = in_memory(tile, false);
  matrix.first += part.first_row * matrix.down + part.first_column * matrix.across;
  matrix.rows -= part.first_row;
  matrix.columns -= part.first_column;
  return matrix;
}

HeldRows rows_of(const Tile& tile, const HeldTile& part) { return {tile.address, tile.down * part.element}; }

template <const TileCode& code>
Tile read(const Tile& tile, std::uint32_t first_thread, std::vector<std::byte>& memory) {
  const HeldTile part = held(tile, first_thread);
  const Tile made = beside(tile, part, memory);
  code.read_held(part, rows_of(made, part));
  return made;
}

// Where a part's rows are in memory, if all of it is there as it is held.
std::optional<HeldRows> rows_in_memory(const Tile& own, const HeldTile& part, const Tile& memory) {
  const bool is_whole = part.first_row + part.rows() <= std::min(own.rows, memory.rows) &&
                        part.first_column + part.columns() <= std::min(own.columns, memory.columns);
  if (!is_whole || own.element_number != memory.element_number || memory.across != 1) return std::nullopt;
  const std::int64_t first = memory.first + part.first_row * memory.down + part.first_column;
  return HeldRows{memory.address + first * part.element, memory.down * part.element};
}

ProductScratch& own_scratch() {
  thread_local const auto scratch = std::make_unique<ProductScratch>();
  return *scratch;
}

#define TILE_PARAMETERS(name)                                                                                   \
  std::byte *name##_address, std::int64_t name##_columns, std::int64_t name##_rows, std::int64_t name##_across, \
      std::int64_t name##_down, std::int64_t name##_first, std::uint32_t name##_element, std::uint32_t name##_is_held
#define TILE(name)                                                \
  {name##_address, name##_columns, name##_rows,    name##_across, \
   name##_down,    name##_first,   name##_element, name##_is_held}

template <const TileCode& code>
void multiply_tiles(std::uint32_t first_thread, TILE_PARAMETERS(left), TILE_PARAMETERS(right),
                    TILE_PARAMETERS(destination), std::int32_t m, std::int32_t n, std::int32_t k,
                    std::uint32_t left_is_transposed, std::uint32_t right_is_transposed, std::uint32_t accumulates,
                    std::uint32_t precision, std::uint32_t simdgroups) {
  Tile left = TILE(left), right = TILE(right), destination = TILE(destination);
  // The first simdgroup computes what several are to leave in memory: none may look at it before they have met.
  if (destination.is_held == 0 && simdgroups > 1 && first_thread != 0) return;
  ProductScratch& scratch = own_scratch();
  const auto part_or_all = [&](const Tile& tile) {
    return tile.is_held != 0 ? std::optional(held(tile, first_thread)) : std::nullopt;
  };
  const std::optional<HeldTile> held_left = part_or_all(left), held_right = part_or_all(right),
                                part = part_or_all(destination);
  if (part && held_left && held_right && simdgroups == 1 && destination.element() == ir::TileElement::f32 &&
      ir::is_float(left.element()) && ir::is_float(right.element())) {
    const HeldProduct whole{*held_left,
                            *held_right,
                            *part,
                            left.element(),
                            right.element(),
                            k,
                            left_is_transposed != 0,
                            right_is_transposed != 0,
                            accumulates != 0};
    if (code.multiply_held(whole, scratch)) return;
  }
  TileProduct product{};
  // Of a destination in memory, what there is of it.
  product.m = part ? std::clamp<std::int64_t>(m - part->first_row, 0, part->rows())
                   : std::clamp<std::int64_t>(destination.rows, 0, m);
  product.n = part ? std::clamp<std::int64_t>(n - part->first_column, 0, part->columns())
                   : std::clamp<std::int64_t>(destination.columns, 0, n);
  product.k = k;
  product.accumulates = accumulates != 0;
  product.is_relaxed = static_cast<ir::Precision>(precision) == ir::Precision::relaxed;
  const bool at_once = ir::is_float(destination.element()) && are_held_at_once(product);
  if (held_left) {
    if (at_once && ir::is_float(left.element()) && left_is_transposed == 0) {
      product.held_left = &*held_left;
    } else {
      left = read<code>(left, first_thread, scratch.held[0]);
    }
  }
  if (held_right) {
    const bool are_whole = k % held_right->fragment == 0 && held_right->fragment <= code.columns;
    if (at_once && ir::is_float(right.element()) && right_is_transposed == 0 && are_whole) {
      product.held_right = &*held_right;
    } else {
      right = read<code>(right, first_thread, scratch.held[1]);
    }
  }
  if (part) {
    if (at_once) {
      product.held_destination = &*part;
    } else if (product.accumulates) {
      destination = read<code>(destination, first_thread, scratch.held[2]);
    } else {
      destination = beside(destination, *part, scratch.held[2]);
    }
  }
  product.left = in_memory(left, left_is_transposed != 0);
  product.right = in_memory(right, right_is_transposed != 0);
  product.destination = in_memory(destination, false);
  if (part) {
    product.left.first += part->first_row * product.left.down;
    product.left.rows -= part->first_row;
    product.right.first += part->first_column * product.right.across;
    product.right.columns -= part->first_column;
  }
  code.multiply(product, scratch);
  if (part && !at_once) code.write_held(*part, rows_of(destination, *part));
}

template <const TileCode& code>
void load_tile(std::uint32_t first_thread, TILE_PARAMETERS(own), TILE_PARAMETERS(source)) {
  const Tile own = TILE(own), source = TILE(source);
  if (own.is_held == 0) return code.copy(in_memory(source, false), in_memory(own, false), own.rows, own.columns);
  const HeldTile part = held(own, first_thread);
  if (const auto rows = rows_in_memory(own, part, source)) return code.write_held(part, *rows);
  const Tile made = beside(own, part, own_scratch().held[0]);
  code.copy(part_of(source, part), in_memory(made, false), made.rows, made.columns);
  code.write_held(part, rows_of(made, part));
}

template <const TileCode& code>
void store_tile(std::uint32_t first_thread, TILE_PARAMETERS(own), TILE_PARAMETERS(destination)) {
  const Tile own = TILE(own), destination = TILE(destination);
  TileMatrix from = in_memory(own, false), to = in_memory(destination, false);
  if (own.is_held != 0) {
    const HeldTile part = held(own, first_thread);
    if (const auto rows = rows_in_memory(own, part, destination)) return code.read_held(part, *rows);
    from = in_memory(read<code>(own, first_thread, own_scratch().held[0]), false);
    to = part_of(destination, part);
  }
  code.copy(from, to, std::min(from.rows, to.rows), std::min(from.columns, to.columns));
}

#undef TILE_PARAMETERS
#undef TILE

template <const TileCode& code>
void* entry_of(std::string_view operation) {
  if (operation == multiply_tiles_name) return reinterpret_cast<void*>(&multiply_tiles<code>);
  if (operation == load_tile_name) return reinterpret_cast<void*>(&load_tile<code>);
  if (operation == store_tile_name) return reinterpret_cast<void*>(&store_tile<code>);
  return nullptr;
}

}  // namespace

void* tile_symbol(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const std::string_view operation = name.substr(0, dot), instructions = name.substr(dot + 1);
  if (instructions == "plain") return entry_of<plain_code>(operation);
#if defined(__x86_64__)
  if (instructions == "avx2") return entry_of<avx2_code>(operation);
  if (instructions == "avx512") return entry_of<avx512_code>(operation);
  if (instructions == "avx512_dot") return entry_of<avx512_dot_code>(operation);
#endif
  return nullptr;
}

}  // namespace metalloid::engines::simd
