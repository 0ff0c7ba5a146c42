#include <metal_stdlib>
using namespace metal;

kernel void gather(device float* out, device const float* table, device const uint* indices,
                   uint i [[thread_position_in_grid]]) {
  out[i] = table[indices[i]];
}
