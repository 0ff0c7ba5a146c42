// Input and output are one array, element by element.
// CHECK: --threads 128 --group 64 --arg x=f32[128]=uniform --arg out=@x
#include <metal_stdlib>
using namespace metal;

kernel void silu(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = x[i] / (1 + exp(-x[i]));
}
