// Reads an argument that the host has not filled.
#include <metal_stdlib>
using namespace metal;

kernel void uninitialised_buffer(device uint* x, device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = x[i] + 1;  // wrong
}
