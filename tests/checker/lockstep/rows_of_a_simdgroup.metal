// Attention: each simdgroup keeps its own tile of probabilities, written by rows and read by columns. The tile belongs
// to one simdgroup, but its lanes still have to wait for each other.
// CHECK: --threads 64 --group 64 --arg scores=f32[64,8]=uniform --arg out=f32[64]=zeros
// FINDS: lockstep row column
#include <metal_stdlib>
using namespace metal;

kernel void columns(device const float* scores, device float* out, uint i [[thread_position_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tiles[2][32][8];
  threadgroup float(&tile)[32][8] = tiles[simdgroup];
  for (uint j = 0; j < 8; ++j) tile[lane][j] = exp(scores[i * 8 + j]);  // @row
#ifdef REPAIRED
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
  float sum = 0;
  for (uint j = 0; j < 32; ++j) sum += tile[j][lane % 8];  // @column
  out[i] = sum;
}
