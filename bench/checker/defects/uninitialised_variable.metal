// A variable that one way through the kernel does not set.
#include <metal_stdlib>
using namespace metal;

kernel void uninitialised_variable(device uint* x, uint i [[thread_position_in_grid]]) {
  uint value;
  if (x[i] > 10) value = x[i];
  x[i] = value + 1;  // wrong
}
