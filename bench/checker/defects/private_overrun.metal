// Writes behind a thread's own array.
#include <metal_stdlib>
using namespace metal;

kernel void private_overrun(device uint* x, uint i [[thread_position_in_grid]]) {
  uint own[4] = {1, 2, 3, 4};
  own[x[i] % 5] = i;  // wrong
  x[i] = own[x[i] % 4];
}
