// Causal attention that keeps no matrix of scores: blocks of keys go by, and each row's largest score and sum are kept up
// to date (Dao et al. 2022). q, k, v, out: (heads, length, 128), length a multiple of 64.
//
// A simdgroup has 16 queries and goes through the keys 32 at a time; products are made of simdgroup matrices, in which a
// row is in four lanes, those that differ in bits 0 and 3.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

constant constexpr uint size = 128;  // of a head
constant constexpr uint parts = size / 8;
constant constexpr uint blocks = 2;  // of 8 queries
constant constexpr float lowest = -1e30f;

float row_max(float x) {
  x = max(x, simd_shuffle_xor(x, 1));
  return max(x, simd_shuffle_xor(x, 8));
}

float row_sum(float x) {
  x += simd_shuffle_xor(x, 1);
  return x + simd_shuffle_xor(x, 8);
}

// Threadgroups of four simdgroups in a grid of (length / 64, heads).
kernel void causal_attention(device float* out, device const float* q, device const float* k, device const float* v,
                             constant uint& length, uint2 group [[threadgroup_position_in_grid]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
  const uint first = group.x * 32 * blocks + simdgroup * 8 * blocks;  // query
  const size_t head = size_t(group.y) * length * size;
  const uint row = (lane >> 4) * 4 + ((lane >> 1) & 3), column = ((lane >> 3) & 1) * 4 + (lane & 1) * 2;
  const float scale = rsqrt(float(size)) * M_LOG2E_F;  // for exp2

  simdgroup_float8x8 query[blocks][parts], result[blocks][parts];
  float largest[blocks], sum[blocks];
#pragma unroll
  for (uint block = 0; block < blocks; ++block) {
#pragma unroll
    for (uint part = 0; part < parts; ++part) {
      simdgroup_load(query[block][part], q + head + size_t(first + block * 8) * size + part * 8, size);
      query[block][part].thread_elements() *= scale;
      result[block][part] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    largest[block] = lowest;
    sum[block] = 0;
  }

  for (uint start = 0; start < first + 8 * blocks; start += 32) {
    simdgroup_float8x8 scores[blocks][4];
#pragma unroll
    for (uint tile = 0; tile < 4; ++tile) {
#pragma unroll
      for (uint block = 0; block < blocks; ++block) scores[block][tile] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
#pragma unroll
      for (uint part = 0; part < parts; ++part) {
        simdgroup_float8x8 key;
        simdgroup_load(key, k + head + size_t(start + tile * 8) * size + part * 8, size, ulong2(0), true);
#pragma unroll
        for (uint block = 0; block < blocks; ++block) {
          simdgroup_multiply_accumulate(scores[block][tile], query[block][part], key, scores[block][tile]);
        }
      }
    }

#pragma unroll
    for (uint block = 0; block < blocks; ++block) {
      float new_largest = largest[block];
#pragma unroll
      for (uint tile = 0; tile < 4; ++tile) {
        thread auto& score = scores[block][tile].thread_elements();
        for (uint i = 0; i < 2; ++i) {
          if (start + tile * 8 + column + i > first + block * 8 + row) score[i] = lowest;
          new_largest = max(new_largest, score[i]);
        }
      }
      new_largest = row_max(new_largest);
      const float rescale = exp2(largest[block] - new_largest);
      largest[block] = new_largest;

      float block_sum = 0;
#pragma unroll
      for (uint tile = 0; tile < 4; ++tile) {
        thread auto& score = scores[block][tile].thread_elements();
        for (uint i = 0; i < 2; ++i) {
          score[i] = exp2(score[i] - new_largest);
          block_sum += score[i];
        }
      }
      sum[block] = sum[block] * rescale + row_sum(block_sum);
#pragma unroll
      for (uint part = 0; part < parts; ++part) result[block][part].thread_elements() *= rescale;
    }

#pragma unroll
    for (uint part = 0; part < parts; ++part) {
#pragma unroll
      for (uint tile = 0; tile < 4; ++tile) {
        simdgroup_float8x8 value;
        simdgroup_load(value, v + head + size_t(start + tile * 8) * size + part * 8, size);
#pragma unroll
        for (uint block = 0; block < blocks; ++block) {
          simdgroup_multiply_accumulate(result[block][part], scores[block][tile], value, result[block][part]);
        }
      }
    }
  }

#pragma unroll
  for (uint block = 0; block < blocks; ++block) {
#pragma unroll
    for (uint part = 0; part < parts; ++part) {
      result[block][part].thread_elements() /= sum[block];
      simdgroup_store(result[block][part], out + head + size_t(first + block * 8) * size + part * 8, size);
    }
  }
}
