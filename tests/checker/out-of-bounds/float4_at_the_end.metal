// Four elements from each position on: the last ones read behind the end, in a grid that fits.
// CHECK: --threads 32 --group 32 --arg x=f32[32]=arange --arg out=f32[32]=zeros
// FINDS: out-of-bounds read
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  if (i > 28) return;
#endif
  const float4 v = float4(*(device const packed_float4*)(x + i));  // @read
  out[i] = v.x + v.y + v.z + v.w;
}
