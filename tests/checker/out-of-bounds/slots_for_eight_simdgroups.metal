// The slots of a reduction were counted for threadgroups of 256 threads; this one has 512.
// CHECK: --threads 512 --group 512 --arg x=f32[512]=ones --arg out=f32[1]=zeros
// FINDS: out-of-bounds slot
#include <metal_stdlib>
using namespace metal;

#ifdef REPAIRED
constant constexpr uint slots = 32;
#else
constant constexpr uint slots = 8;
#endif

kernel void sum(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]],
                uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float parts[slots];
  const float part = simd_sum(x[i]);
  if (lane == 0) parts[simdgroup] = part;  // @slot
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i > 0) return;
  float sum = 0;
  for (uint k = 0; k < min(simdgroups, slots); ++k) sum += parts[k];
  out[0] = sum;
}
