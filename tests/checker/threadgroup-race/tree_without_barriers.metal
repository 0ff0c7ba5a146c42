// A tree of sums in threadgroup memory whose steps do not wait for each other: the one barrier stands before the loop.
// CHECK: --threads 256 --group 256 --arg x=f32[256]=ones --arg out=f32[1]=zeros
// FINDS: threadgroup-race add add
#include <metal_stdlib>
using namespace metal;

kernel void sum(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[256];
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 128; step > 0; step /= 2) {
    if (i < step) t[i] += t[i + step];  // @add
#ifdef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  }
  if (i == 0) out[0] = t[0];
}
