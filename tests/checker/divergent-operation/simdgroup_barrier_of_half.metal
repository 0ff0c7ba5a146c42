// Half of the lanes wait for each other at a simdgroup_barrier, the other half does not come to it.
// CHECK: --threads 32 --group 32 --arg x=f32[32]=arange --arg out=f32[32]=zeros
// FINDS: divergent-operation barrier
#include <metal_stdlib>
using namespace metal;

kernel void fold(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[32];
  t[i] = x[i];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  if (i < 16) {
    sum = t[i] + t[i + 16];
#ifndef REPAIRED
    simdgroup_barrier(mem_flags::mem_threadgroup);  // @barrier
#endif
  }
  out[i] = sum;
}
