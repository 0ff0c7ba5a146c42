// The second stage of a reduction reads 32 slots, one per lane; the threadgroup has two simdgroups.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=ones --arg out=f32[1]=zeros
// FINDS: uninitialised slot
#include <metal_stdlib>
using namespace metal;

kernel void sum(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]],
                uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float parts[32];
  const float part = simd_sum(x[i]);
  if (lane == 0) parts[simdgroup] = part;
  threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef REPAIRED
  const float all = simd_sum(lane < simdgroups ? parts[lane] : 0.0f);
#else
  const float all = simd_sum(parts[lane]);  // @slot
#endif
  if (i == 0) out[0] = all;
}
