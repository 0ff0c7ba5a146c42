// A factor of two bytes where the kernel has a float: the other two bytes are what lies behind it.
// CHECK: --threads 8 --group 8 --arg x=f32[8]=arange --arg factor=f16:0.5
// CHECK REPAIRED: --threads 8 --group 8 --arg x=f32[8]=arange --arg factor=f32:0.5
// FINDS: argument-width
#include <metal_stdlib>
using namespace metal;

kernel void scale(device float* x, constant float& factor, uint i [[thread_position_in_grid]]) { x[i] *= factor; }
