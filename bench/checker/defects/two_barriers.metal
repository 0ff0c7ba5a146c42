// Threads of two branches wait at two different barriers.
#include <metal_stdlib>
using namespace metal;

kernel void two_barriers(device uint* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint t[64];
  if (i < 32) {
    t[i] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);  // wrong
    x[i] += 1;
  } else {
    t[i] = 2 * x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);  // wrong
    x[i] += t[63 - i];
  }
}
