// A search in parallel leaves its loop, and with it the barriers in the loop, as soon as a simdgroup has found what it
// looks for; the others go on without it, and wait for it.
// CHECK: --threads 64 --group 64 --arg x=u32[4,64]=arange --arg wanted=70 --arg out=u32[64]=zeros
// FINDS: barrier-divergence turn end
#include <metal_stdlib>
using namespace metal;

kernel void search(device const uint* x, constant uint& wanted, device uint* out,
                   uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint row[64];
  uint found = ~0u;
  for (uint k = 0; k < 4; ++k) {
    row[i] = x[k * 64 + i];
    if (simd_any(row[i] == wanted)) found = k;
#ifndef REPAIRED
    if (found != ~0u) break;
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @turn
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);  // @end
  out[i] = found;
}
