// Reads what a neighbour writes, with no barrier between.
#include <metal_stdlib>
using namespace metal;

kernel void local_race(device uint* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint t[64];
  t[i] = x[i];
  x[i] = t[63 - i];  // wrong
}
