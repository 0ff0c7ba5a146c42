// Three of a vector's four elements are set; the sum is of four.
// CHECK: --threads 4 --group 4 --arg x=f32[4]=arange --arg out=f32[4]=zeros
// FINDS: uninitialised sum
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  float4 v;
  v.xyz = float3(x[i], 1, 2);
#ifdef REPAIRED
  v.w = 0;
#endif
  out[i] = dot(v, float4(1));  // @sum
}
