// The grid has a batch dimension, the index of the output has not: every batch writes over the one before.
// CHECK: --threads 64,3 --group 64,1 --arg x=f32[3,64]=arange --arg out=f32[3,64]=zeros
// FINDS: device-race write write
#include <metal_stdlib>
using namespace metal;

kernel void doubled(device const float* x, device float* out, uint2 p [[thread_position_in_grid]]) {
#ifdef REPAIRED
  out[p.y * 64 + p.x] = x[p.y * 64 + p.x] * 2;
#else
  out[p.x] = x[p.y * 64 + p.x] * 2;  // @write
#endif
}
