// Derivatives within a quad: the threads at the border do not take part, and their neighbours take their value.
// CHECK: --threads 8 --group 8 --arg x=f32[8]=arange --arg out=f32[8]=zeros
// FINDS: inactive-lane neighbour
#include <metal_stdlib>
using namespace metal;

kernel void slopes(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  const float first = quad_broadcast(x[i], 0);
  if (i % 4 > 0) out[i] = x[i] - first;
#else
  if (i % 4 > 0) {
    out[i] = x[i] - quad_broadcast(x[i], 0);  // @neighbour
  }
#endif
}
