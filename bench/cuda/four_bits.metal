// y = W x with weights of four bits and x and y of half, W in the layouts of three public libraries. W has `rows` rows of
// `columns` weights; sums are of float.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint rows_of_simdgroup = 4;

// llama.cpp's Q4_0: blocks of 32 weights in a row, of which byte i has weight i in its low and weight i + 16 in its high
// bits; w stands for scale (w - 8). Two lanes share a block, and x is divided by what masks leave weights multiplied with.
struct Q4Block {
  half scale;
  ushort packed[8];
};

[[kernel]] void q4_0(device half* y, device const Q4Block* weights, device const half* x, constant uint& columns,
                     constant uint& rows, uint group [[threadgroup_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint blocks = columns / 32, first = (group * simdgroups + simdgroup) * rows_of_simdgroup;
  const uint half_of_block = lane % 2;
  if (first >= rows) return;
  float sums[rows_of_simdgroup] = {};
  for (uint block = lane / 2; block < blocks; block += 16) {
    device const half* part = x + block * 32 + half_of_block * 8;
    float scaled[16], total = 0;
    for (uint i = 0; i < 8; i += 2) {
      total += float(part[i]) + float(part[i + 1]) + float(part[i + 16]) + float(part[i + 17]);
      scaled[i] = part[i];
      scaled[i + 1] = part[i + 1] / 256.0f;
      scaled[i + 8] = part[i + 16] / 16.0f;
      scaled[i + 9] = part[i + 17] / 4096.0f;
    }
    for (uint row = 0; row < rows_of_simdgroup; ++row) {
      device const Q4Block& one = weights[(first + row) * blocks + block];
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
    if (lane == 0) y[first + row] = half(sum);
  }
}

// MLX's affine weights: eight of a row in a word, the first in its lowest bits; w stands for scale w + bias, which groups of
// 64 weights have in arrays of their own. A lane takes 16 weights of each of four rows at a time.
[[kernel]] void affine(device half* y, device const uint* weights, device const half* scales, device const half* biases,
                       device const half* x, constant uint& columns, constant uint& rows,
                       uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]],
                       uint simdgroups [[simdgroups_per_threadgroup]]) {
  constexpr uint at_once = 16, group_size = 64;
  const uint first = (group * simdgroups + simdgroup) * rows_of_simdgroup;
  if (first >= rows) return;
  float sums[rows_of_simdgroup] = {};
  for (uint k = lane * at_once; k < columns; k += 32 * at_once) {
    float scaled[at_once], total = 0;
    for (uint i = 0; i < at_once; i += 4) {
      total += float(x[k + i]) + float(x[k + i + 1]) + float(x[k + i + 2]) + float(x[k + i + 3]);
      scaled[i] = x[k + i];
      scaled[i + 1] = x[k + i + 1] / 16.0f;
      scaled[i + 2] = x[k + i + 2] / 256.0f;
      scaled[i + 3] = x[k + i + 3] / 4096.0f;
    }
    for (uint row = 0; row < rows_of_simdgroup; ++row) {
      const uint at = (first + row) * columns + k;
      device const ushort* packed = (device const ushort*)(weights + at / 8);
      float sum = 0;
      for (uint i = 0; i < at_once / 4; ++i) {
        sum += scaled[4 * i] * (packed[i] & 0x000f) + scaled[4 * i + 1] * (packed[i] & 0x00f0) +
            scaled[4 * i + 2] * (packed[i] & 0x0f00) + scaled[4 * i + 3] * (packed[i] & 0xf000);
      }
      sums[row] += float(scales[at / group_size]) * sum + float(biases[at / group_size]) * total;
    }
  }
  for (uint row = 0; row < rows_of_simdgroup; ++row) {
    const float sum = simd_sum(sums[row]);
    if (lane == 0) y[first + row] = half(sum);
  }
}

// GPTQ's: word (k / 8, row) has eight weights of a row, the first in its lowest bits, so that neighbours in memory are rows;
// w stands for scale (w - zero - 1), which groups of 128 weights have, zeros of eight rows in a word. A lane has a row, and
// simdgroups divide k among each other.
[[kernel]] void gptq(device half* y, device const uint* weights, device const uint* zeros, device const half* scales,
                     device const half* x, constant uint& columns, constant uint& rows,
                     uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint simdgroups [[simdgroups_per_threadgroup]]) {
  constexpr uint group_size = 128, words = group_size / 8;
  threadgroup float parts[32][32];
  const uint row = group * 32 + lane;
  float sum = 0;
  for (uint g = simdgroup; g < columns / group_size; g += simdgroups) {
    device const half* part = x + g * group_size;
    float products = 0, total = 0;
    for (uint j = 0; j < words; ++j) {
      const uint word = weights[(g * words + j) * rows + row];
      for (uint i = 0; i < 8; ++i) {
        const float value = part[8 * j + i];
        products += value * float((word >> (4 * i)) & 15);
        total += value;
      }
    }
    const uint zero = (zeros[(g * rows + row) / 8] >> (row % 8 * 4)) & 15;
    sum += float(scales[g * rows + row]) * (products - float(zero + 1) * total);
  }
  parts[simdgroup][lane] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup != 0) return;
  for (uint other = 1; other < simdgroups; ++other) sum += parts[other][lane];
  y[row] = half(sum);
}
