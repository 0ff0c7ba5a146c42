// Producers and consumers take different branches, each with a barrier of its own: those are two barriers, not one.
// CHECK: --threads 64 --group 64 --arg x=f32[32]=arange --arg out=f32[32]=zeros
// FINDS: barrier-divergence produced awaited
#include <metal_stdlib>
using namespace metal;

kernel void pipeline(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[32];
#ifdef REPAIRED
  if (i < 32) t[i] = x[i] * 2;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i >= 32) out[i - 32] = t[63 - i];
#else
  if (i < 32) {
    t[i] = x[i] * 2;
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @produced
  } else {
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @awaited
    out[i - 32] = t[63 - i];
  }
#endif
}
