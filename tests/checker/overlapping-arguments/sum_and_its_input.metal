// The total of a row is written to the first element of the row by way of a second argument, and not by the thread that
// the element belongs to.
// CHECK: --threads 32 --group 32 --arg x=f32[32]=ones --arg total=@x
// CHECK REPAIRED: --threads 32 --group 32 --arg x=f32[32]=ones --arg total=f32[1]=zeros
// FINDS: overlapping-arguments
#include <metal_stdlib>
using namespace metal;

kernel void sum(device const float* x, device float* total, uint i [[thread_position_in_grid]]) {
  const float all = simd_sum(x[i]);
  if (i == 31) total[0] = all;
}
