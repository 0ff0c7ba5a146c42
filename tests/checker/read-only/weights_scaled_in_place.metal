// The cast takes away the const that the signature promised: the host may have bound the buffer as read-only, and share
// it.
// CHECK: --threads 8 --group 8 --arg weights=f32[8]=arange --arg out=f32[8]=zeros
// FINDS: read-only scale
#include <metal_stdlib>
using namespace metal;

kernel void scaled(device const float* weights, device float* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  out[i] = weights[i] * 2;
#else
  ((device float*)weights)[i] *= 2;  // @scale
  out[i] = weights[i];
#endif
}
