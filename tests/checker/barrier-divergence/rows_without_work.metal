// A two-dimensional threadgroup with more rows than there is work: the last row skips the loading, and with it the
// barrier that follows the loading.
// CHECK: --threads 32,4 --group 32,4 --arg x=f32[3,32]=uniform --arg out=f32[32]=zeros --arg rows=3
// FINDS: barrier-divergence loaded all
#include <metal_stdlib>
using namespace metal;

kernel void column_sums(device const float* x, device float* out, constant uint& rows,
                        uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[3][32];
  if (t.y < rows) {
    tile[t.y][t.x] = x[t.y * 32 + t.x];
#ifndef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @loaded
#endif
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);  // @all
  if (t.y == 0) out[t.x] = tile[0][t.x] + tile[1][t.x] + tile[2][t.x];
}
