// The kernel adds to an output that the host has made and not filled: torch.empty in place of torch.zeros.
// CHECK: --threads 16 --group 16 --arg x=f32[16]=arange --arg out=f32[16]=undefined
// CHECK REPAIRED: --threads 16 --group 16 --arg x=f32[16]=arange --arg out=f32[16]=zeros
// FINDS: uninitialised add
#include <metal_stdlib>
using namespace metal;

kernel void accumulate(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] += x[i];  // @add
}
