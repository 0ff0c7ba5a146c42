// Four elements at once, from an address that is one element off.
// CHECK: --threads 8 --group 8 --arg x=f32[40]=arange --arg out=f32[8]=zeros
// FINDS: misaligned load
#include <metal_stdlib>
using namespace metal;

#ifdef REPAIRED
typedef packed_float4 Four;
#else
typedef float4 Four;
#endif

kernel void sums(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  const float4 v = *(device const Four*)(x + 1 + 4 * i);  // @load
  out[i] = v.x + v.y + v.z + v.w;
}
