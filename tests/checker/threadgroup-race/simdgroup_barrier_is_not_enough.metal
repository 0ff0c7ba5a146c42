// The simdgroups exchange elements behind a simdgroup_barrier, which makes the lanes of one simdgroup wait for each
// other and nobody else.
// CHECK: --threads 64 --group 64 --arg x=bf16[64]=arange
// FINDS: threadgroup-race write read
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device bfloat* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup bfloat t[64];
  t[i] = x[i];  // @write
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#else
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
  x[i] = t[63 - i];  // @read
}
