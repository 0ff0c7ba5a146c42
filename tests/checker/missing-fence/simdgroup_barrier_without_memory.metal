// Lanes exchange elements through threadgroup memory behind a simdgroup_barrier that names no memory.
// CHECK: --threads 64 --group 64 --arg x=f16[64]=arange
// FINDS: missing-fence write read
#include <metal_stdlib>
using namespace metal;

kernel void swapped(device half* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup half t[64];
  t[i] = x[i];  // @write
#ifdef REPAIRED
  simdgroup_barrier(mem_flags::mem_threadgroup);
#else
  simdgroup_barrier(mem_flags::mem_none);
#endif
  x[i] = t[i ^ 31];  // @read
}
