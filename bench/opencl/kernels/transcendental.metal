#include <metal_stdlib>
using namespace metal;

kernel void transcendental(device float* out, device const float* in, uint i [[thread_position_in_grid]]) {
  const float x = in[i];
  out[i] = sin(x) * exp(-x) + log(x + 1.0f) * tanh(x) + cos(x) * sqrt(x) + pow(x, 1.5f);
}
