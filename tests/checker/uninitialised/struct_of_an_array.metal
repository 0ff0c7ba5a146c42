// A struct is copied out of an array at an index that is known when the kernel runs; a member was never set.
// CHECK: --threads 4 --group 4 --arg x=f32[4]=arange --arg out=f32[4]=zeros
// FINDS: uninitialised copy
#include <metal_stdlib>
using namespace metal;

struct State {
  float largest, sum;
};

kernel void states(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  State all[3];
  for (uint k = 0; k < 3; ++k) {
    all[k].largest = x[k];
#ifdef REPAIRED
    all[k].sum = 1;
#endif
  }
  State best = all[i % 3];  // @copy
  out[i] = best.largest + best.sum;
}
