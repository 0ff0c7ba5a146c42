// Threadgroup memory that is filled again while others may still read it.
#include <metal_stdlib>
using namespace metal;

kernel void local_reuse(device uint* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint t[64];
  uint sum = 0;
  for (uint step = 1; step < 4; ++step) {
    t[i] = x[i] + step;  // wrong
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += t[(i + step) % 64];  // wrong
  }
  x[i] = sum;
}
