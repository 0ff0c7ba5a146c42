// The last steps of a tree of sums without barriers, as if lanes ran in step.
#include <metal_stdlib>
using namespace metal;

kernel void lanes_in_step(device uint* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint t[64];
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 16) {
    t[i] += t[i + 16];  // wrong
    t[i] += t[i + 8];  // wrong
  }
  if (i == 0) x[0] = t[0];
}
