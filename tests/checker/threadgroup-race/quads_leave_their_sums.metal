// Each quad of threads leaves its sum, and is read by a thread of the other half at once.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange --arg out=f32[16]=zeros
// FINDS: threadgroup-race leave read
#include <metal_stdlib>
using namespace metal;

kernel void quads(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]],
                  uint quad [[quadgroup_index_in_threadgroup]], uint lane [[thread_index_in_quadgroup]]) {
  threadgroup float sums[16];
  const float sum = quad_sum(x[i]);
  if (lane == 0) sums[quad] = sum;  // @leave
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  if (lane == 0) out[quad] = sum + sums[15 - quad];  // @read
}
