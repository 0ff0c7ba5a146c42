// Causal attention that keeps no matrix of scores: blocks of keys go by, and each row's largest score and sum are kept up
// to date (Dao et al. 2022). q, k, v, out: (heads, length, 128), length a multiple of 32.
//
// A simdgroup has 8 queries and goes through the keys 32 at a time; products are made of simdgroup matrices, in which a
// row is in four lanes, those that differ in bits 0 and 3.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

constant constexpr uint size = 128;  // of a head
constant constexpr uint parts = size / 8;
constant constexpr float lowest = -1e30f;

float row_max(float x) {
  x = max(x, simd_shuffle_xor(x, 1));
  return max(x, simd_shuffle_xor(x, 8));
}

float row_sum(float x) {
  x += simd_shuffle_xor(x, 1);
  return x + simd_shuffle_xor(x, 8);
}

// Threadgroups of four simdgroups in a grid of (length / 32, heads).
kernel void causal_attention(device float* out, device const float* q, device const float* k, device const float* v,
                             constant uint& length, uint2 group [[threadgroup_position_in_grid]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
  const uint first = group.x * 32 + simdgroup * 8;  // query
  const size_t head = size_t(group.y) * length * size;
  const uint row = (lane >> 4) * 4 + ((lane >> 1) & 3), column = ((lane >> 3) & 1) * 4 + (lane & 1) * 2;
  const float scale = rsqrt(float(size)) * M_LOG2E_F;  // for exp2

  simdgroup_float8x8 query[parts], result[parts];
#pragma unroll
  for (uint part = 0; part < parts; ++part) {
    simdgroup_load(query[part], q + head + size_t(first) * size + part * 8, size);
    query[part].thread_elements() *= scale;
    result[part] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }

  float largest = lowest, sum = 0;
  for (uint start = 0; start < first + 8; start += 32) {
    simdgroup_float8x8 scores[4];
#pragma unroll
    for (uint tile = 0; tile < 4; ++tile) {
      scores[tile] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
#pragma unroll
      for (uint part = 0; part < parts; ++part) {
        simdgroup_float8x8 key;
        simdgroup_load(key, k + head + size_t(start + tile * 8) * size + part * 8, size, ulong2(0), true);
        simdgroup_multiply_accumulate(scores[tile], query[part], key, scores[tile]);
      }
    }

    float new_largest = largest;
#pragma unroll
    for (uint tile = 0; tile < 4; ++tile) {
      thread auto& score = scores[tile].thread_elements();
      for (uint i = 0; i < 2; ++i) {
        if (start + tile * 8 + column + i > first + row) score[i] = lowest;
        new_largest = max(new_largest, score[i]);
      }
    }
    new_largest = row_max(new_largest);
    const float rescale = exp2(largest - new_largest);
    largest = new_largest;

    float block_sum = 0;
#pragma unroll
    for (uint tile = 0; tile < 4; ++tile) {
      thread auto& score = scores[tile].thread_elements();
      for (uint i = 0; i < 2; ++i) {
        score[i] = exp2(score[i] - largest);
        block_sum += score[i];
      }
    }
    sum = sum * rescale + row_sum(block_sum);

#pragma unroll
    for (uint part = 0; part < parts; ++part) {
      result[part].thread_elements() *= rescale;
#pragma unroll
      for (uint tile = 0; tile < 4; ++tile) {
        simdgroup_float8x8 value;
        simdgroup_load(value, v + head + size_t(start + tile * 8) * size + part * 8, size);
        simdgroup_multiply_accumulate(result[part], scores[tile], value, result[part]);
      }
    }
  }

#pragma unroll
  for (uint part = 0; part < parts; ++part) {
    result[part].thread_elements() /= sum;
    simdgroup_store(result[part], out + head + size_t(first) * size + part * 8, size);
  }
}
