// A tile of 32 x 32, padded against bank conflicts, is written by rows and read by columns with nothing between.
// CHECK: --threads 32,8 --group 32,8 --arg x=f32[32,32]=arange --arg out=f32[32,32]=zeros
// FINDS: threadgroup-race row column
#include <metal_stdlib>
using namespace metal;

kernel void transpose(device const float* x, device float* out, ushort2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][33];
  for (ushort j = 0; j < 32; j += 8) tile[t.y + j][t.x] = x[(t.y + j) * 32 + t.x];  // @row
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  for (ushort j = 0; j < 32; j += 8) out[(t.y + j) * 32 + t.x] = tile[t.x][t.y + j];  // @column
}
