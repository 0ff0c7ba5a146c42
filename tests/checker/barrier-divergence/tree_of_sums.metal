// A tree of sums with its barrier inside of `if (i < step)`: those that are done with adding do not come to it.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=ones --arg out=f32[1]=zeros
// FINDS: barrier-divergence inside
#include <metal_stdlib>
using namespace metal;

kernel void sum(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 32; step > 0; step /= 2) {
    if (i < step) {
      t[i] += t[i + step];
#ifndef REPAIRED
      threadgroup_barrier(mem_flags::mem_threadgroup);  // @inside
#endif
    }
#ifdef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  }
  if (i == 0) out[0] = t[0];
}
