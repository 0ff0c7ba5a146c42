// Kernels that do little but meet, for bench/meeting_bench.cpp.
#include <metal_stdlib>
using namespace metal;

// What one simd_sum costs: `count` of them, each of the last one's result.
kernel void sums(device float* out, constant uint& count, uint i [[thread_position_in_grid]]) {
  float value = i;
  for (uint k = 0; k < count; ++k) {
    value = simd_sum(value) * 0.03125f;
  }
  out[i] = value;
}

// What one barrier costs.
kernel void barriers(device uint* out, constant uint& count, uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < count; ++k) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = i;
}

// Causal attention as simple kernels have it: a threadgroup for each query goes through the keys, one at a time, and
// adds up each score over all threads. q, k, v, out: (heads, length, size).
kernel void causal_attention(device float* out,
                             device const float* q,
                             device const float* k,
                             device const float* v,
                             constant uint& length,
                             constant uint& size,
                             uint row [[threadgroup_position_in_grid]],
                             uint thread_index [[thread_index_in_threadgroup]],
                             uint threads [[threads_per_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]],
                             uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float partial_scores[32];
  threadgroup float score;
  const uint first_key = row / length * length;
  const float scale = rsqrt(float(size));
  float largest = -INFINITY, sum = 0;
  for (uint d = thread_index; d < size; d += threads) {
    out[row * size + d] = 0;
  }
  for (uint key = first_key; key <= row; ++key) {
    float partial = 0;
    for (uint d = thread_index; d < size; d += threads) {
      partial += q[row * size + d] * k[key * size + d];
    }
    partial = simd_sum(partial);
    if (lane == 0) {
      partial_scores[simdgroup] = partial;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0) {
      partial = simd_sum(lane < simdgroups ? partial_scores[lane] : 0.0f);
      if (lane == 0) {
        score = partial * scale;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float new_largest = max(largest, score);
    const float rescale = exp(largest - new_largest), weight = exp(score - new_largest);
    largest = new_largest;
    sum = sum * rescale + weight;
    for (uint d = thread_index; d < size; d += threads) {
      out[row * size + d] = out[row * size + d] * rescale + weight * v[key * size + d];
    }
  }
  for (uint d = thread_index; d < size; d += threads) {
    out[row * size + d] /= sum;
  }
}
