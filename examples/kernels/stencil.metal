// One step of heat diffusion on a 2-D plate: each cell moves towards the mean of its four neighbours. Cells on
// the edge keep their temperature.
//
// The grid is as large as the plate, whatever the threadgroup's size: Metal cuts the last threadgroups of each
// row and column to fit, so the kernel needs no bounds check of its own.
//
//   metalloid run examples/kernels/stencil.metal --kernel diffuse --threads 100,37 --group 16,8
//       --arg next=f32[37,100]=zeros --arg now=f32[37,100]=uniform --arg rate=f32:0.2
#include <metal_stdlib>
using namespace metal;

kernel void diffuse(device float* next [[buffer(0)]],
                    device const float* now [[buffer(1)]],
                    constant float& rate [[buffer(2)]],
                    uint2 cell [[thread_position_in_grid]],
                    uint2 size [[threads_per_grid]]) {
  const uint i = cell.y * size.x + cell.x;
  const bool on_edge = any(cell == 0) || any(cell == size - 1);
  if (on_edge) {
    next[i] = now[i];
    return;
  }
  const float neighbours = now[i - 1] + now[i + 1] + now[i - size.x] + now[i + size.x];
  next[i] = now[i] + rate * (neighbours - 4.0f * now[i]);
}
