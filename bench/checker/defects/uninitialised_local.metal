// Reads threadgroup memory that nobody has written.
#include <metal_stdlib>
using namespace metal;

kernel void uninitialised_local(device uint* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint t[64];
  if (i < 32) t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = t[63 - i];  // wrong
}
