// Segments are given by their offsets, and the end of each by the offset of the next. The host left the last one away.
// CHECK: --threads 4 --group 4 --arg x=f32[20]=ones --arg offsets=u32[4]=0,3,9,12 --arg out=f32[4]=zeros
// CHECK REPAIRED: --threads 4 --group 4 --arg x=f32[20]=ones --arg offsets=u32[5]=0,3,9,12,20 --arg out=f32[4]=zeros
// FINDS: out-of-bounds end
#include <metal_stdlib>
using namespace metal;

kernel void segment_sums(device const float* x, constant uint* offsets, device float* out,
                         uint segment [[thread_position_in_grid]]) {
  const uint begin = offsets[segment];
  const uint end = offsets[segment + 1];  // @end
  float sum = 0;
  for (uint k = begin; k < min(end, 20u); ++k) sum += x[k];
  out[segment] = sum;
}
