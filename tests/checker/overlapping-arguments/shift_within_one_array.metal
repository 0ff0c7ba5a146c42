// An array is shifted by four: the output is the input, sixteen bytes further. Metal's arguments may not overlap where
// one of them is written, and a compiler may rely on it.
// CHECK: --threads 32 --group 32 --arg x=f32[36]=arange --arg out=@x+16
// CHECK REPAIRED: --threads 32 --group 32 --arg x=f32[36]=arange --arg out=f32[36]=zeros
// FINDS: overlapping-arguments
#include <metal_stdlib>
using namespace metal;

kernel void copy(device const float* x, device float* out, uint i [[thread_position_in_grid]]) { out[i] = x[i]; }
