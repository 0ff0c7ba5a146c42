// Weights of 4 bits in blocks of 32 along a row: a scale, and bytes with weight i in the low and i + 16 in the high
// bits. A weight w stands for scale * (w - 8).
#pragma once

#include <metal_stdlib>

constant constexpr uint block_size = 32;

struct Block {
  half scale;
  uchar packed[block_size / 2];
};

template <typename Pointer>
void unpack(device const Block& block, Pointer to) {
  for (uint i = 0; i < block_size / 2; ++i) {
    const uchar both = block.packed[i];
    to[i] = block.scale * (half(both & 0xf) - 8.0h);
    to[i + block_size / 2] = block.scale * (half(both >> 4) - 8.0h);
  }
}
