// An index array of 64 bits, as PyTorch makes them, for a kernel that takes 32: every other index is 0.
// CHECK: --threads 8 --group 8 --arg x=f32[16]=arange --arg places=i64[8]=arange --arg out=f32[8]=zeros
// CHECK REPAIRED: --threads 8 --group 8 --arg x=f32[16]=arange --arg places=i32[8]=arange --arg out=f32[8]=zeros
// FINDS: argument-width
#include <metal_stdlib>
using namespace metal;

kernel void gather(device const float* x, device const int* places, device float* out,
                   uint i [[thread_position_in_grid]]) {
  out[i] = x[places[i]];
}
