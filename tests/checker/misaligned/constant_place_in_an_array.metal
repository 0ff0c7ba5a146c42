// The same at places that are known when the kernel is compiled, through a function.
// CHECK: --threads 4 --group 4 --arg x=f32[32]=arange --arg out=f32[4]=zeros
// FINDS: misaligned read
// FINDS: misaligned write
#include <metal_stdlib>
using namespace metal;

static float2 pair_at(thread const float* values) {
#ifdef REPAIRED
  return float2(values[0], values[1]);
#else
  return *(thread const float2*)values;  // @read
#endif
}

kernel void sums(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  float own[8];
  for (uint k = 0; k < 8; ++k) own[k] = x[8 * i + k];
#ifndef REPAIRED
  *(thread float2*)&own[5] = float2(1, 2);  // @write
#endif
  const float2 v = pair_at(own + 3);
  out[i] = v.x + v.y + own[6];
}
