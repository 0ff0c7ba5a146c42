// y = W * x with weights of four bits in blocks of 32, as llama.cpp keeps them (Q4_0): a half scale and 16 bytes, of which
// byte i has weight i in its low and weight i + 16 in its high bits; a weight w stands for scale * (w - 8).
//
// A simdgroup computes four rows, so that x is read once for them. Two lanes share a block. Weights are taken out of
// pairs of bytes by masks alone: x is divided by what their places multiply them with.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint rows_of_simdgroup = 4;

struct Block {
  half scale;
  ushort packed[8];
};

kernel void q4_matvec(device float* y, device const Block* weights, device const float* x, constant uint& columns,
                      constant uint& rows, uint group [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint blocks = columns / 32;
  const uint first = (group * simdgroups + simdgroup) * rows_of_simdgroup;
  const uint half_of_block = lane % 2;
  float sums[rows_of_simdgroup] = {};

  for (uint block = lane / 2; block < blocks; block += 16) {
    device const float* part = x + block * 32 + half_of_block * 8;
    float scaled[16], total = 0;
    for (uint i = 0; i < 8; i += 2) {
      total += part[i] + part[i + 1] + part[i + 16] + part[i + 17];
      scaled[i] = part[i];
      scaled[i + 1] = part[i + 1] / 256.0f;
      scaled[i + 8] = part[i + 16] / 16.0f;
      scaled[i + 9] = part[i + 17] / 4096.0f;
    }
    for (uint row = 0; row < rows_of_simdgroup && first + row < rows; ++row) {
      device const Block& one = weights[size_t(first + row) * blocks + block];
      device const ushort* packed = one.packed + half_of_block * 4;
      float sum = 0;
      for (uint i = 0; i < 8; i += 2) {
        const ushort pair = packed[i / 2];
        sum += scaled[i] * (pair & 0x000f) + scaled[i + 1] * (pair & 0x0f00) + scaled[i + 8] * (pair & 0x00f0) +
            scaled[i + 9] * (pair & 0xf000);
      }
      sums[row] += float(one.scale) * (sum - 8.0f * total);
    }
  }

  for (uint row = 0; row < rows_of_simdgroup; ++row) {
    const float sum = simd_sum(sums[row]);
    if (lane == 0 && first + row < rows) y[first + row] = sum;
  }
}
