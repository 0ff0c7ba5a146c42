// A convolution of 3 x 3 that runs over all pixels, those at the border included.
// CHECK: --threads 8,8 --group 8,8 --arg x=f32[8,8]=uniform --arg out=f32[8,8]=zeros
// FINDS: out-of-bounds tap
#include <metal_stdlib>
using namespace metal;

kernel void box(device const float* x, device float* out, uint2 p [[thread_position_in_grid]]) {
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      const int row = int(p.y) + dy, column = int(p.x) + dx;
#ifdef REPAIRED
      if (row < 0 || row > 7 || column < 0 || column > 7) continue;
#endif
      sum += x[row * 8 + column];  // @tap
    }
  }
  out[p.y * 8 + p.x] = sum / 9;
}
