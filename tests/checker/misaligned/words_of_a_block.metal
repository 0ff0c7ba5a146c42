// Blocks of 18 bytes, a scale and sixteen weights, whose weights are read as words of four bytes. A block begins at an
// even address and its weights two bytes further, so that only every other block has them at a multiple of four.
// CHECK: --threads 4 --group 4 --arg blocks=u8[72]=arange --arg out=u32[4]=zeros
// FINDS: misaligned word
#include <metal_stdlib>
using namespace metal;

struct Block {
  half scale;
  uchar weights[16];
};

kernel void bits(device const Block* blocks, device uint* out, uint i [[thread_position_in_grid]]) {
  uint count = 0;
#ifdef REPAIRED
  device const ushort* words = (device const ushort*)blocks[i].weights;
  for (uint k = 0; k < 8; ++k) count += popcount(uint(words[k]));
#else
  device const uint* words = (device const uint*)blocks[i].weights;
  for (uint k = 0; k < 4; ++k) count += popcount(words[k]);  // @word
#endif
  out[i] = count;
}
