// An array of metal::array, of which the loop fills all but the last.
// CHECK: --threads 4 --group 4 --arg x=f32[16]=arange --arg out=f32[4]=zeros --arg n=3
// FINDS: uninitialised sum
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float* x, device float* out, constant uint& n, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  array<float, 4> own = {};
#else
  array<float, 4> own;
#endif
  for (uint k = 0; k < n; ++k) own[k] = x[4 * i + k];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) sum += own[k];  // @sum
  out[i] = sum;
}
