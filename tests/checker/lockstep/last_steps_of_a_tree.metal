// The last steps of a tree of sums stay in one simdgroup and leave the barriers out; `volatile` is believed to be
// enough.
// CHECK: --threads 128 --group 128 --arg x=f32[128]=ones --arg out=f32[1]=zeros
// FINDS: lockstep add add
#include <metal_stdlib>
using namespace metal;

kernel void sum(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[128];
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 64; step >= 32; step /= 2) {
    if (i < step) t[i] += t[i + step];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  threadgroup volatile float* last = t;
  for (uint step = 16; step > 0; step /= 2) {
    if (i < step) last[i] = last[i] + last[i + step];  // @add
#ifdef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  }
  if (i == 0) out[0] = t[0];
}
