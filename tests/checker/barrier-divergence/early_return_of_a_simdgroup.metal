// Threads without an element leave before the barrier. Metal's specification wants every thread at a barrier; on Apple
// silicon those that have returned are not waited for, so this is an error with --strict only.
// CHECK: --strict --threadgroups 1 --group 64 --arg x=f32[32]=arange --arg out=f32[32]=zeros --arg n=32
// FINDS: barrier-divergence barrier
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device const float* x, device float* out, constant uint& n,
                     uint i [[thread_position_in_grid]]) {
  threadgroup float t[64];
#ifndef REPAIRED
  if (i >= n) return;
#endif
  t[i] = i < n ? x[i] : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);  // @barrier
  if (i < n) out[i] = t[n - 1 - i];
}
