// A barrier that names device memory, between accesses of threadgroup memory.
#include <metal_stdlib>
using namespace metal;

kernel void missing_local_fence(device uint* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint t[64];
  t[i] = x[i];  // wrong
  threadgroup_barrier(mem_flags::mem_device);
  x[i] = t[63 - i];  // wrong
}
