// A barrier that names threadgroup memory, between accesses of device memory.
#include <metal_stdlib>
using namespace metal;

kernel void missing_fence(device uint* x, device uint* out, uint i [[thread_position_in_threadgroup]]) {
  x[i] = i;  // wrong
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = x[63 - i];  // wrong
}
