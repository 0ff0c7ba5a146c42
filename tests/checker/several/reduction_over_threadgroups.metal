// A sum over everything: the slots of absent simdgroups are read, and all threadgroups add to one number.
// CHECK: --threads 128 --group 64 --arg x=f32[128]=ones --arg out=f32[1]=zeros
// FINDS: uninitialised slots
// FINDS: device-race add add
#include <metal_stdlib>
using namespace metal;

kernel void sum(device const float* x, device float* out, uint g [[thread_position_in_grid]],
                uint i [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[8];
  const float part = simd_sum(x[g]);
  if (lane == 0) parts[simdgroup] = part;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i > 0) return;
  float all = 0;
#ifdef REPAIRED
  for (uint k = 0; k < 2; ++k) all += parts[k];
  atomic_fetch_add_explicit((device atomic_float*)out, all, memory_order_relaxed);
#else
  for (uint k = 0; k < 8; ++k) all += parts[k];  // @slots
  out[0] += all;  // @add
#endif
}
