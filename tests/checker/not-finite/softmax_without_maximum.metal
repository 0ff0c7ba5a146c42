// Softmax without subtracting the largest element first: exp overflows at 89.
// CHECK: --also not-finite --threads 2 --group 2 --arg x=f32[2,4]=0,1,2,3,50,80,90,100
// FINDS: not-finite exponential
#include <metal_stdlib>
using namespace metal;

kernel void softmax(device float* x, uint row [[thread_position_in_grid]]) {
  device float* own = x + 4 * row;
#ifdef REPAIRED
  const float largest = max(max(own[0], own[1]), max(own[2], own[3]));
#else
  const float largest = 0;
#endif
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    own[k] = exp(own[k] - largest);  // @exponential
    sum += own[k];
  }
  for (uint k = 0; k < 4; ++k) own[k] /= sum;
}
