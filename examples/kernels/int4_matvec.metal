// y = W * x with W in 4-bit integers, as language models store their weights.
//
// Each row of W is cut into blocks of 32 weights. A block holds a half scale and 16 bytes; byte i carries
// weight i in its low and weight i + 16 in its high four bits, and a weight w stands for scale * (w - 8).
// One simdgroup computes one row: lane l takes blocks l, l + 32, ... and simd_sum adds up the lanes.
//
//   metalloid inspect examples/kernels/int4_matvec.metal
#include <metal_stdlib>
using namespace metal;

constant constexpr uint block_size = 32;

struct Block {
  half scale;
  uchar packed[block_size / 2];
};

kernel void int4_matvec(device float* y [[buffer(0)]],
                        device const Block* weights [[buffer(1)]],
                        device const float* x [[buffer(2)]],
                        constant uint& columns [[buffer(3)]],
                        constant uint& rows [[buffer(4)]],
                        uint group [[threadgroup_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]],
                        uint simdgroup [[simdgroup_index_in_threadgroup]],
                        uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint row = group * simdgroups + simdgroup;
  if (row >= rows) {
    return;
  }
  const uint blocks = columns / block_size;
  device const Block* row_blocks = weights + size_t(row) * blocks;
  float sum = 0;
  for (uint b = lane; b < blocks; b += 32) {
    device const Block& block = row_blocks[b];
    device const float* part = x + b * block_size;
    float block_sum = 0;
    for (uint i = 0; i < block_size / 2; ++i) {
      const uchar byte = block.packed[i];
      block_sum += part[i] * (float(byte & 0xf) - 8.0f);
      block_sum += part[i + block_size / 2] * (float(byte >> 4) - 8.0f);
    }
    sum += float(block.scale) * block_sum;
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    y[row] = sum;
  }
}
