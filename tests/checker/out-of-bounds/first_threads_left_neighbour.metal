// A stencil without a first element: the left neighbour of element 0 is element -1.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange --arg out=f32[64]=zeros
// FINDS: out-of-bounds left
#include <metal_stdlib>
using namespace metal;

kernel void difference(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  const int at = int(i);
#ifdef REPAIRED
  const float left = at > 0 ? x[at - 1] : x[0];
#else
  const float left = x[at - 1];  // @left
#endif
  out[at] = x[at] - left;
}
