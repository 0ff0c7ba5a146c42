// Reads the element after the last one of an argument.
#include <metal_stdlib>
using namespace metal;

kernel void read_past_end(device const uint* x, device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = x[i + 1];  // wrong
}
