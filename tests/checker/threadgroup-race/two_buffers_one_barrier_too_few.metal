// Double buffering: the next tile is loaded while this one is used. The barrier belongs into the loop; here it stands
// before it, so nothing waits for the second tile and those after it.
// CHECK: --threads 64 --group 64 --arg x=f32[256]=uniform --arg out=f32[64]=zeros
// FINDS: threadgroup-race load use
#include <metal_stdlib>
using namespace metal;

kernel void tiles(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float tile[2][64];
  float sum = 0;
  tile[0][i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 4; ++k) {
    if (k < 3) tile[(k + 1) % 2][i] = x[(k + 1) * 64 + i];  // @load
    sum += tile[k % 2][63 - i];  // @use
#ifdef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  }
  out[i] = sum;
}
