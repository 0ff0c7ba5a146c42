// Numbers among the operands of operations on tiles (operations.def), for code that runs beside kernels, too.
#pragma once

#include <cstdint>

namespace metalloid::ir {

enum class TileElement : std::uint8_t {
#define TILE_ELEMENT(name) name,
#include "ir/operations.def"
};

// Bytes of an element; 1 of those of 4 bits, two of which share one.
constexpr unsigned bytes_of(TileElement element) {
  switch (element) {
    case TileElement::f16:
    case TileElement::bf16:
    case TileElement::i16:
    case TileElement::u16: return 2;
    case TileElement::f32:
    case TileElement::i32:
    case TileElement::u32: return 4;
    case TileElement::i64:
    case TileElement::u64: return 8;
    default: return 1;
  }
}

constexpr bool is_float(TileElement element) {
  return element == TileElement::f16 || element == TileElement::bf16 || element == TileElement::f32;
}

// How close a product comes to the exact chain.
enum class Precision : std::uint8_t { exact, relaxed };

}  // namespace metalloid::ir
