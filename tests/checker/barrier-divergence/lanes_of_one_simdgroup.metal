// A barrier that half of a simdgroup comes to.
// CHECK: --threads 32 --group 32 --arg x=f32[32]=arange --arg out=f32[32]=zeros
// FINDS: barrier-divergence half [all]
#include <metal_stdlib>
using namespace metal;

kernel void halves(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[32];
  t[i] = x[i];
  if (i < 16) {
    t[i] *= 2;
#ifndef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @half
#endif
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);  // @all
  out[i] = t[31 - i];
}
