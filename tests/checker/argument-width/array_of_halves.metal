// An array of half for a kernel of float: large enough here, and every element is made of two.
// CHECK: --threads 8 --group 8 --arg x=f16[16]=arange --arg out=f32[8]=zeros
// CHECK REPAIRED: --threads 8 --group 8 --arg x=f32[8]=arange --arg out=f32[8]=zeros
// FINDS: argument-width
#include <metal_stdlib>
using namespace metal;

kernel void doubled(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = x[i] * 2;
}
