// A thread's own array for the largest four, into which a fifth is sorted.
// CHECK: --threads 8 --group 8 --arg x=f32[8,16]=uniform --arg out=f32[8]=zeros
// FINDS: out-of-bounds move
#include <metal_stdlib>
using namespace metal;

kernel void fourth_largest(device const float* x, device float* out, uint row [[thread_position_in_grid]]) {
  float best[4] = {-1, -1, -1, -1};
  for (uint k = 0; k < 16; ++k) {
    const float v = x[row * 16 + k];
    uint at = 0;
    while (at < 4 && best[at] >= v) ++at;
#ifdef REPAIRED
    for (uint j = 3; j > at; --j) best[j] = best[j - 1];
#else
    for (uint j = 4; j > at; --j) best[j] = best[j - 1];  // @move
#endif
    if (at < 4) best[at] = v;
  }
  out[row] = best[3];
}
