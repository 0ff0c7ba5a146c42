// Neighbours exchange elements through threadgroup memory without a barrier, because they are lanes of one simdgroup.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange
// FINDS: lockstep write read
#include <metal_stdlib>
using namespace metal;

kernel void swapped(device float* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[i] = x[i];  // @write
#ifdef REPAIRED
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
  x[i] = t[i ^ 1];  // @read
}
