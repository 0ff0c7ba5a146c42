// A barrier to which half of the threads come.
#include <metal_stdlib>
using namespace metal;

kernel void barrier_in_branch(device uint* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint t[64];
  t[i] = x[i];
  if (i < 32) threadgroup_barrier(mem_flags::mem_threadgroup);  // wrong
  x[i] = t[i];
}
