// saxpy: y = a * x + y, the smallest useful kernel. Each thread of the grid handles one element.
//
//   metalloid run examples/kernels/saxpy.metal --kernel saxpy --threads 1000 --group 256
//       --arg y=f32[1000]=ones --arg x=f32[1000]=arange --arg a=f32:0.5 --print y
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device float* y [[buffer(0)]],
                  device const float* x [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = fma(a, x[i], y[i]);
}
