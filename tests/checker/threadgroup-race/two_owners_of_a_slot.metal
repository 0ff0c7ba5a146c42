// Pairs of threads share a slot that only the even one should write.
// CHECK: --threads 64 --group 64 --arg x=f16[64]=arange --arg out=f16[64]=zeros
// FINDS: threadgroup-race write write
#include <metal_stdlib>
using namespace metal;

kernel void pairs(device const half* x, device half* out, ushort i [[thread_position_in_threadgroup]]) {
  threadgroup half t[32];
#ifdef REPAIRED
  if (i % 2 == 0)
#endif
    t[i / 2] = x[i];  // @write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = t[i / 2];
}
