// A loop over a row whose step the host gave as zero.
// CHECK: --timeout 1 --threads 4 --group 4 --arg x=f32[64]=ones --arg out=f32[4]=zeros --arg step=0
// CHECK REPAIRED: --timeout 1 --threads 4 --group 4 --arg x=f32[64]=ones --arg out=f32[4]=zeros --arg step=4
// FINDS: endless-loop
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float* x, device float* out, constant uint& step, uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = i; k < 64; k += step) {
    sum += x[k];
    out[i] = sum;
  }
}
