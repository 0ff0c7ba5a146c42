// A stencil with a halo in threadgroup memory: each thread loads one element, the first and the last thread one more,
// and nobody waits before reading what the neighbours load.
// CHECK: --threads 256 --group 64 --arg x=f32[256]=arange --arg out=f32[256]=zeros
// FINDS: threadgroup-race load read
#include <metal_stdlib>
using namespace metal;

kernel void blur(device const float* x, device float* out, uint g [[thread_position_in_grid]],
                 uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[66];
  t[i + 1] = x[g];  // @load
  if (i == 0) t[0] = g > 0 ? x[g - 1] : 0;
  if (i == 63) t[65] = g < 255 ? x[g + 1] : 0;
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  out[g] = (t[i] + t[i + 1] + t[i + 2]) / 3;  // @read
}
