// The last thread reads behind an array in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

kernel void local_overrun(device uint* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint t[64];
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = t[i + 1];  // wrong
}
