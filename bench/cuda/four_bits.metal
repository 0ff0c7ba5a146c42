// y = W x with weights of four bits, W in the layouts of three public libraries, and as many rows, lanes and simdgroups as
// their kernels have. W has `rows` rows of `columns` weights; sums are of float.
#include <metal_stdlib>
using namespace metal;

constant constexpr int rows_of_simdgroup = 4;

// llama.cpp's Q4_0: blocks of 32 weights in a row, of which byte i has weight i in its low and weight i + 16 in its high
// bits; w stands for scale (w - 8). Two lanes share a block, and x is divided by what masks leave weights multiplied with.
struct Q4Block {
  half scale;
  uchar packed[16];
};

[[kernel]] void q4_0(device float* y, device const Q4Block* weights, device const float* x, constant int& columns,
                     constant int& rows, uint group [[threadgroup_position_in_grid]],
                     ushort lane [[thread_index_in_simdgroup]], ushort simdgroup [[simdgroup_index_in_threadgroup]],
                     ushort simdgroups [[simdgroups_per_threadgroup]]) {
  const int blocks = columns / 32, first = (group * simdgroups + simdgroup) * rows_of_simdgroup;
  const short block_of_lane = lane / 2, part_of_block = lane % 2 * 8;
  device const Q4Block* row_begins[rows_of_simdgroup];
  for (int row = 0; row < rows_of_simdgroup; ++row) row_begins[row] = weights + ulong(first + row) * blocks;
  device const float* part = x + block_of_lane * 32 + part_of_block;
  float sums[rows_of_simdgroup] = {};
  for (int block = block_of_lane; block < blocks; block += 16) {
    float scaled[16], total = 0;
    for (short i = 0; i < 8; i += 2) {
      total += part[i] + part[i + 1] + part[i + 16] + part[i + 17];
      scaled[i] = part[i];
      scaled[i + 1] = part[i + 1] / 256.0f;
      scaled[i + 8] = part[i + 16] / 16.0f;
      scaled[i + 9] = part[i + 17] / 4096.0f;
    }
    for (short row = 0; row < rows_of_simdgroup; ++row) {
      device const Q4Block* one = row_begins[row] + block;
      device const ushort* packed = (device const ushort*)one->packed + part_of_block / 2;
      float sum = -8.0f * total;
      for (short i = 0; i < 8; i += 2) {
        const ushort pair = packed[i / 2];
        sum += scaled[i] * (pair & 0x000f) + scaled[i + 1] * (pair & 0x0f00) + scaled[i + 8] * (pair & 0x00f0) +
            scaled[i + 9] * (pair & 0xf000);
      }
      sums[row] += one->scale * sum;
    }
    part += 16 * 32;
  }
  for (int row = 0; row < rows_of_simdgroup; ++row) {
    const float sum = simd_sum(sums[row]);
    if (lane == 0 && first + row < rows) y[first + row] = sum;
  }
}

// MLX's affine weights: eight of a row in a word, the first in its lowest bits; w stands for scale w + bias, which groups of
// 64 weights have in arrays of their own. A lane takes 16 weights of each of four rows at a time.
[[kernel]] void affine(device half* y, device const uint* weights, device const half* scales, device const half* biases,
                       device const half* x, constant int& columns, constant int& rows,
                       uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]],
                       uint simdgroups [[simdgroups_per_threadgroup]]) {
  constexpr int at_once = 16, of_simdgroup = 32 * at_once, group_size = 64;
  const int first = (group * simdgroups + simdgroup) * rows_of_simdgroup;
  if (first >= rows) return;
  const int row_bytes = columns / 2, row_groups = columns / group_size;
  device const uchar* bytes = (device const uchar*)weights + first * row_bytes + lane * at_once / 2;
  scales += first * row_groups + lane * at_once / group_size;
  biases += first * row_groups + lane * at_once / group_size;
  x += lane * at_once;
  float sums[rows_of_simdgroup] = {};
  for (int k = 0; k < columns; k += of_simdgroup) {
    float scaled[at_once], total = 0;
    for (int i = 0; i < at_once; i += 4) {
      total += x[i] + x[i + 1] + x[i + 2] + x[i + 3];
      scaled[i] = x[i];
      scaled[i + 1] = x[i + 1] / 16.0f;
      scaled[i + 2] = x[i + 2] / 256.0f;
      scaled[i + 3] = x[i + 3] / 4096.0f;
    }
    for (int row = 0; row < rows_of_simdgroup; ++row) {
      device const ushort* packed = (device const ushort*)(bytes + row * row_bytes);
      const float scale = scales[row * row_groups], bias = biases[row * row_groups];
      float sum = 0;
      for (int i = 0; i < at_once / 4; ++i) {
        sum += scaled[4 * i] * (packed[i] & 0x000f) + scaled[4 * i + 1] * (packed[i] & 0x00f0) +
            scaled[4 * i + 2] * (packed[i] & 0x0f00) + scaled[4 * i + 3] * (packed[i] & 0xf000);
      }
      sums[row] += scale * sum + bias * total;
    }
    bytes += of_simdgroup / 2;
    scales += of_simdgroup / group_size;
    biases += of_simdgroup / group_size;
    x += of_simdgroup;
  }
  for (int row = 0; row < rows_of_simdgroup; ++row) {
    const float sum = simd_sum(sums[row]);
    if (lane == 0) y[first + row] = half(sum);
  }
}

// GPTQ's: word (k / 8, row) has eight weights of a row, the first in its lowest bits, so that neighbours in memory are rows;
// w stands for scale (w - zero - 1), which groups of 128 weights have, zeros of eight rows in a word. As in the kernels of
// ExLlama and vLLM threads have four rows each, a threadgroup has one group of weights and adds its sums to y, and
// products of a word are added in pairs of half: weight i and i + 4, as masks leave them, with 1024 added by their
// exponent.
[[kernel]] void gptq(device atomic_float* y, device const uint* weights, device const uint* zeros,
                     device const half* scales, device const half* x, constant int& columns, constant int& rows,
                     uint2 group [[threadgroup_position_in_grid]], uint index [[thread_index_in_threadgroup]],
                     uint2 threads [[threads_per_threadgroup]]) {
  constexpr int group_size = 128, words = group_size / 8, rows_of_thread = 4;
  threadgroup half2 pairs[words][4];
  for (int i = index; i < group_size / 2; i += threads.x) {
    device const half* part = x + group.y * group_size + i / 4 * 8 + i % 4;
    pairs[i / 4][i % 4] = half2(part[0], part[4]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const int row = (group.x * threads.x + index) * rows_of_thread;
  if (row >= rows) return;
  const uint four_zeros = zeros[(group.y * rows + row) / 8] >> (row % 8 * 4);
  half2 less[rows_of_thread];
  for (int i = 0; i < rows_of_thread; ++i) less[i] = half2(half(1025 + ((four_zeros >> (4 * i)) & 15)));
  device const uint4* four = (device const uint4*)(weights + group.y * words * rows + row);
  float sums[rows_of_thread] = {};
  for (int word = 0; word < words; ++word) {
    const uint4 packed = *four;
    for (int i = 0; i < rows_of_thread; ++i) {
      half2 sum = 0;
      for (int pair = 0; pair < 4; ++pair) {
        const half2 weight = as_type<half2>(((packed[i] >> (4 * pair)) & 0x000f000f) | 0x64006400) - less[i];
        sum = fma(weight, pairs[word][pair], sum);
      }
      sums[i] += float(sum.x) + float(sum.y);
    }
    four += rows / 4;
  }
  const half4 scale = *(device const half4*)(scales + group.y * rows + row);
  for (int i = 0; i < rows_of_thread; ++i) {
    atomic_fetch_add_explicit(y + row + i, float(scale[i]) * sums[i], memory_order_relaxed);
  }
}
