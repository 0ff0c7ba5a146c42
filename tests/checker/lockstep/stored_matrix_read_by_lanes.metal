// A simdgroup stores a matrix to threadgroup memory, and its lanes read their rows of it at once: an element lies with
// another lane than the one that reads it.
// CHECK: --threads 32 --group 32 --arg a=f32[8,8]=arange --arg out=f32[8]=zeros
// FINDS: lockstep store read
#include <metal_stdlib>
using namespace metal;

kernel void row_sums(device const float* a, device float* out, uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float rows[64];
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8);
  simdgroup_store(m, rows, 8);  // @store
#ifdef REPAIRED
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
  float sum = 0;
  for (uint j = 0; j < 8; ++j) sum += rows[lane % 8 * 8 + j];  // @read
  if (lane < 8) out[lane] = sum;
}
