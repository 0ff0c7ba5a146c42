// The grid has three batches, the output was made for one.
// CHECK: --threads 16,1,3 --group 16,1,1 --arg x=f32[3,16]=arange --arg out=f32[16]=zeros
// CHECK REPAIRED: --threads 16,1,3 --group 16,1,1 --arg x=f32[3,16]=arange --arg out=f32[48]=zeros
// FINDS: out-of-bounds write
#include <metal_stdlib>
using namespace metal;

kernel void copy(device const float* x, device float* out, uint3 p [[thread_position_in_grid]]) {
  const uint at = p.z * 16 + p.x;
  out[at] = x[at];  // @write
}
