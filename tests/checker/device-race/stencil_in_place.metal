// A stencil that writes where it reads: the neighbours' elements are old or new, as it happens.
// CHECK: --threads 128 --group 64 --arg x=f32[130]=uniform --arg y=f32[130]=zeros
// FINDS: device-race read write
#include <metal_stdlib>
using namespace metal;

kernel void blur(device float* x, device float* y, uint i [[thread_position_in_grid]]) {
  const float mean = (x[i] + x[i + 1] + x[i + 2]) / 3;  // @read
#ifdef REPAIRED
  y[i + 1] = mean;
#else
  x[i + 1] = mean;  // @write
#endif
}
