// Threads without an element return before a barrier: on Apple silicon the others do not wait for them.
// CHECK: --threadgroups 2 --group 64 --arg x=f32[100]=arange --arg out=f32[100]=zeros --arg n=100
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device const float* x, device float* out, constant uint& n, uint g [[thread_position_in_grid]],
                     uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  if (g >= n) return;
  t[i] = x[g];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint last = min(63u, n - 1 - (g - i));
  out[g] = t[last - i];
}
