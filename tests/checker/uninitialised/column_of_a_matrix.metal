// Two of a matrix's three columns are set, and a product reads all of them.
// CHECK: --threads 4 --group 4 --arg x=f32[4]=arange --arg out=f32[4]=zeros
// FINDS: uninitialised product
#include <metal_stdlib>
using namespace metal;

kernel void products(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  float3x3 m;
  m[0] = float3(x[i], 0, 0);
  m[1] = float3(0, x[i], 0);
#ifdef REPAIRED
  m[2] = float3(0, 0, 1);
#endif
  const float3 y = m * float3(1, 2, 3);  // @product
  out[i] = y.x + y.z;
}
