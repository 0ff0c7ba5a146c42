// Reads elements of a thread's own array that were not written.
#include <metal_stdlib>
using namespace metal;

kernel void uninitialised_private(device uint* x, uint i [[thread_position_in_grid]]) {
  uint own[4];
  for (uint k = 0; k < 3; ++k) own[k] = x[i] + k;
  x[i] = own[x[i] % 4];  // wrong
}
