// The odd lanes take a value from lane 0, which is even and does not take part.
// CHECK: --threads 32 --group 32 --arg x=f32[32]=arange --arg out=f32[32]=zeros
// FINDS: inactive-lane broadcast
#include <metal_stdlib>
using namespace metal;

kernel void differences(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  const float first = simd_broadcast(x[i], 0);
  out[i] = i % 2 == 1 ? x[i] - first : 0;
#else
  if (i % 2 == 1) {
    out[i] = x[i] - simd_broadcast(x[i], 0);  // @broadcast
  }
#endif
}
