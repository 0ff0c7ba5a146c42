// Writes the element before the first one of an argument.
#include <metal_stdlib>
using namespace metal;

kernel void write_before_begin(device uint* x, uint i [[thread_position_in_grid]]) {
  x[int(i) - 1] = i;  // wrong
}
