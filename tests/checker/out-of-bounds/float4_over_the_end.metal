// Four elements at once, and a length that is no multiple of four: the last vector hangs over the end.
// CHECK: --threads 17 --group 17 --arg x=f32[66]=arange --arg out=f32[17]=zeros --arg n=66
// FINDS: out-of-bounds load
#include <metal_stdlib>
using namespace metal;

kernel void sums_of_4(device const float* x, device float* out, constant uint& n,
                      uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  float sum = 0;
  for (uint k = 4 * i; k < min(4 * i + 4, n); ++k) sum += x[k];
  out[i] = sum;
#else
  const float4 v = ((device const float4*)x)[i];  // @load
  out[i] = v.x + v.y + v.z + v.w;
#endif
}
