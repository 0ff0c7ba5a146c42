// Reads four floats at once from where any of them begins.
#include <metal_stdlib>
using namespace metal;

kernel void misaligned_vector(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = dot(*(device const float4*)(x + i), float4(1));  // wrong
}
