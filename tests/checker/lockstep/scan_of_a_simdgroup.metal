// A scan by doubling steps over the 32 elements of each simdgroup, in place and without barriers.
// CHECK: --threads 64 --group 64 --arg x=u32[64]=ones
// FINDS: lockstep add add
#include <metal_stdlib>
using namespace metal;

kernel void scan(device uint* x, uint i [[thread_position_in_threadgroup]], ushort lane [[thread_index_in_simdgroup]]) {
  threadgroup uint t[64];
  t[i] = x[i];
#ifdef REPAIRED
  for (ushort step = 1; step < 32; step *= 2) {
    simdgroup_barrier(mem_flags::mem_threadgroup);
    const uint before = lane >= step ? t[i - step] : 0;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    t[i] += before;
  }
#else
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (ushort step = 1; step < 32; step *= 2) {
    if (lane >= step) t[i] += t[i - step];  // @add
  }
#endif
  x[i] = t[i];
}
