// An array of threadgroup memory as long as the threadgroup, and a right neighbour.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange --arg out=f32[64]=zeros
// FINDS: out-of-bounds neighbour
#include <metal_stdlib>
using namespace metal;

kernel void difference(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef REPAIRED
  const float right = i < 63 ? t[i + 1] : 0;
#else
  const float right = t[i + 1];  // @neighbour
#endif
  out[i] = right - x[i];
}
