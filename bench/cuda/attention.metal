// out = softmax(scale * q k^T) v of half, as authors of Metal kernels write it: simdgroups hold some rows of scores and
// of the result in simdgroup matrices, keys and values pass through threadgroup memory, and the softmax is made on the
// way.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

// `count` rows of `size` elements, which lie one behind the other, 16 bytes at a time.
template <int count, int size, int threads>
void copy(threadgroup half* to, device const half* from, uint thread_index) {
  constexpr int piece = 8, pieces = size / piece, row = size + piece;
#pragma unroll
  for (int i = 0; i < count * pieces; i += threads) {
    const int at = i + thread_index, y = at / pieces, x = at % pieces * piece;
    *(threadgroup uint4*)(to + y * row + x) = *(device const uint4*)(from + y * size + x);
  }
}

// A threadgroup has `rows` queries for each simdgroup, of one of `batch * heads`; q, k, v and out are
// (batch * heads, length, size), and length is a multiple of the rows of a threadgroup and of `keys`.
template <int size, int rows, int keys, int simdgroups>
[[kernel, max_total_threads_per_threadgroup(32 * simdgroups)]] void attention(
    device half* out [[buffer(0)]], device const half* q [[buffer(1)]], device const half* k [[buffer(2)]],
    device const half* v [[buffer(3)]], constant uint& length [[buffer(4)]], constant uint& causal [[buffer(5)]],
    constant float& scale [[buffer(6)]], uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {
  constexpr int down = rows / 8, across = keys / 8, deep = size / 8, row = size + 8, threads = 32 * simdgroups;
  threadgroup half k_tile[keys * row], v_tile[keys * row];
  const size_t start = size_t(group.y) * length * size;
  const uint first_row = group.x * simdgroups * rows + simdgroup * rows;
  simdgroup_half8x8 queries[down][deep];
  simdgroup_float8x8 sums[down][deep];
#pragma unroll
  for (int i = 0; i < down; ++i) {
#pragma unroll
    for (int d = 0; d < deep; ++d) {
      simdgroup_load(queries[i][d], q + start + size_t(first_row + 8 * i) * size + 8 * d, size);
      sums[i][d] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  // Which of a matrix's elements are the lane's.
  const uint own_row = (lane / 16) * 4 + lane / 2 % 4, own_column = (lane / 8 % 2) * 4 + lane % 2 * 2;
  const float factor = scale * M_LOG2E_F;  // greater than 0
  float largest[down], total[down];        // of a row; the lane's part of its sum
#pragma unroll
  for (int i = 0; i < down; ++i) {
    largest[i] = -1e30f;
    total[i] = 0;
  }
  const uint end = causal ? min(length, (group.x + 1) * simdgroups * rows) : length;
  for (uint first = 0; first < end; first += keys) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    copy<keys, size, threads>(k_tile, k + start + size_t(first) * size, thread_index);
    copy<keys, size, threads>(v_tile, v + start + size_t(first) * size, thread_index);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 scores[down][across];
#pragma unroll
    for (int i = 0; i < down; ++i) {
#pragma unroll
      for (int j = 0; j < across; ++j) scores[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
#pragma unroll
    for (int d = 0; d < deep; ++d) {
#pragma unroll
      for (int j = 0; j < across; ++j) {
        simdgroup_half8x8 key;
        simdgroup_load(key, k_tile + 8 * j * row + 8 * d, row, 0, true);
#pragma unroll
        for (int i = 0; i < down; ++i) simdgroup_multiply_accumulate(scores[i][j], queries[i][d], key, scores[i][j]);
      }
    }
    simdgroup_half8x8 weights[down][across];
#pragma unroll
    for (int i = 0; i < down; ++i) {
      float most = -1e30f;
#pragma unroll
      for (int j = 0; j < across; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          thread float& score = scores[i][j].thread_elements()[e];
          const bool is_behind = causal && first + 8 * j + own_column + e > first_row + 8 * i + own_row;
          score = is_behind ? -1e30f : score;
          most = max(most, score);
        }
      }
      most = max(most, simd_shuffle_xor(most, 1));
      most = max(most, simd_shuffle_xor(most, 8));
      most = max(most * factor, largest[i]);
      const float change = exp2(largest[i] - most);
      largest[i] = most;
      float sum = 0;
#pragma unroll
      for (int j = 0; j < across; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const float weight = exp2(scores[i][j].thread_elements()[e] * factor - most);
          sum += weight;
          weights[i][j].thread_elements()[e] = half(weight);
        }
      }
      total[i] = total[i] * change + sum;
#pragma unroll
      for (int d = 0; d < deep; ++d) {
        sums[i][d].thread_elements()[0] *= change;
        sums[i][d].thread_elements()[1] *= change;
      }
    }
#pragma unroll
    for (int j = 0; j < across; ++j) {
#pragma unroll
      for (int d = 0; d < deep; ++d) {
        simdgroup_half8x8 value;
        simdgroup_load(value, v_tile + 8 * j * row + 8 * d, row);
#pragma unroll
        for (int i = 0; i < down; ++i) simdgroup_multiply_accumulate(sums[i][d], weights[i][j], value, sums[i][d]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < down; ++i) {
    total[i] += simd_shuffle_xor(total[i], 1);
    total[i] += simd_shuffle_xor(total[i], 8);
    const float share = 1 / total[i];
#pragma unroll
    for (int d = 0; d < deep; ++d) {
      simdgroup_half8x8 result;
      result.thread_elements()[0] = half(sums[i][d].thread_elements()[0] * share);
      result.thread_elements()[1] = half(sums[i][d].thread_elements()[1] * share);
      simdgroup_store(result, out + start + size_t(first_row + 8 * i) * size + 8 * d, size);
    }
  }
}
#define ATTENTION(name, ...) \
  template [[host_name(name)]] kernel decltype(attention<__VA_ARGS__>) attention<__VA_ARGS__>;
// By the size of heads, the keys of a tile and simdgroups.
ATTENTION("attention_64_32_4", 64, 16, 32, 4)
ATTENTION("attention_128_32_4", 128, 16, 32, 4)
ATTENTION("attention_128_32_8", 128, 16, 32, 8)
