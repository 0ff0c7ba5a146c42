// One step of a tree of sums with its barrier inside of the condition: the first simdgroup comes to it, the second one
// goes on to the next.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=ones --arg out=f32[1]=zeros
// FINDS: barrier-divergence inside after
#include <metal_stdlib>
using namespace metal;

kernel void sum(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 32) {
    t[i] += t[i + 32];
#ifndef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @inside
#endif
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);  // @after
  if (i > 0) return;
  float sum = 0;
  for (uint k = 0; k < 32; ++k) sum += t[k];
  out[0] = sum;
}
