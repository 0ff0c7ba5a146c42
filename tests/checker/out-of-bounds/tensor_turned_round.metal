// A tensor's extents are given from the fastest to the slowest, and indexed in the same order; this kernel has rows and
// columns exchanged.
// CHECK: -std=metal4.0 --threads 4,16 --group 4,16 --arg y=f32[4,16]=zeros --arg x=f32[4,16]=arange
// CHECK REPAIRED: -std=metal4.0 --threads 16,4 --group 16,4 --arg y=f32[4,16]=zeros --arg x=f32[4,16]=arange
// FINDS: out-of-bounds element
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;

kernel void doubled(device float* y, tensor<const device float, dextents<int, 2>> x,
                    uint2 p [[thread_position_in_grid]]) {
  const float v = x[p.x, p.y];  // @element
  if (p.y * 16 + p.x < 64) y[p.y * 16 + p.x] = v * 2;
}
