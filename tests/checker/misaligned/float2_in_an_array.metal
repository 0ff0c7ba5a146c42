// Pairs are read from an array of the thread's own, beginning at its second element.
// CHECK: --threads 4 --group 4 --arg x=f32[32]=arange --arg out=f32[4]=zeros --arg first=1
// FINDS: misaligned read
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float* x, device float* out, constant uint& first, uint i [[thread_position_in_grid]]) {
  float own[8];
  for (uint k = 0; k < 8; ++k) own[k] = x[8 * i + k];
#ifdef REPAIRED
  const float2 v(own[first], own[first + 1]);
#else
  const float2 v = *(thread float2*)(own + first);  // @read
#endif
  out[i] = v.x + v.y;
}
