// One step of heat flow on a square; its edge stays.
#include <metal_stdlib>
using namespace metal;

kernel void stencil(device float* out, device const float* in, constant uint& size,
                    uint2 position [[thread_position_in_grid]]) {
  const uint i = position.y * size + position.x;
  if (position.x == 0 || position.y == 0 || position.x == size - 1 || position.y == size - 1) {
    out[i] = in[i];
    return;
  }
  out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - size] + in[i + size] - 4.0f * in[i]);
}
