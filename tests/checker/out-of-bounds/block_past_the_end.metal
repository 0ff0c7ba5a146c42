// Weights in blocks of a scale and sixteen bytes. The loop over the blocks of a row rounds their number up, and then
// adds one "for the rest" all the same.
// CHECK: --threads 2 --group 2 --arg blocks=u8[108]=arange --arg out=f32[2]=zeros --arg columns=96
// FINDS: out-of-bounds scale
// FINDS: out-of-bounds weight
#include <metal_stdlib>
using namespace metal;

struct Block {
  half scale;
  uchar weights[16];
};

kernel void row_sums(device const Block* blocks, device float* out, constant uint& columns,
                     uint row [[thread_position_in_grid]]) {
  const uint per_row = (columns + 31) / 32;
#ifdef REPAIRED
  const uint count = per_row;
#else
  const uint count = per_row + 1;
#endif
  float sum = 0;
  for (uint b = 0; b < count; ++b) {
    device const Block& block = blocks[row * per_row + b];
    const float scale = float(block.scale);  // @scale
    for (uint k = 0; k < 16; ++k) sum += scale * (block.weights[k] & 15);  // @weight
  }
  out[row] = sum;
}
