#include <metal_stdlib>
using namespace metal;

kernel void silu(device float* out, device const float* in, uint i [[thread_position_in_grid]]) {
  const float x = in[i];
  out[i] = x / (1.0f + exp(-x));
}
