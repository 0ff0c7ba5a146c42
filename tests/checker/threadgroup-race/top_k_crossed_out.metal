// Top-k: all threads look for the largest, thread 0 crosses it out, and the next round begins before it has.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=uniform --arg out=f32[4]=zeros
// FINDS: threadgroup-race look cross
#include <metal_stdlib>
using namespace metal;

kernel void top_4(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint round = 0; round < 4; ++round) {
    uint at = 0;
    float largest = -INFINITY;
    for (uint j = 0; j < 64; ++j) {
      const float candidate = t[j];  // @look
      at = candidate > largest ? j : at;
      largest = max(candidate, largest);
    }
#ifdef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (i == at) t[at] = -INFINITY;  // @cross
    if (i == 0) out[round] = largest;
#ifdef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  }
}
