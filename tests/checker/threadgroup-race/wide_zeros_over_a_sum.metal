// A vector of zeros reaches into the element beside, which another simdgroup writes. Where both write zeros all is well.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=zeros
// FINDS: threadgroup-race wide narrow
#include <metal_stdlib>
using namespace metal;

kernel void sums(device float* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float sums[4];
#ifdef REPAIRED
  const float sum = 0;
#else
  const float sum = 7;
#endif
  if (i == 0) *(threadgroup float4*)sums = float4(0, 0, 0, 0);  // @wide
  if (i == 32) sums[3] = sum;  // @narrow
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = sums[i % 4];
}
