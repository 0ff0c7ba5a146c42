// A tile with a border: the four sides are loaded, the four corners are not, and a filter of 3 x 3 reads them.
// CHECK: --threads 8,8 --group 8,8 --arg x=f32[10,10]=uniform --arg out=f32[8,8]=zeros
// FINDS: uninitialised tap
#include <metal_stdlib>
using namespace metal;

kernel void box(device const float* x, device float* out, uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[10][10];
  const uint2 p = t + 1;
  tile[p.y][p.x] = x[p.y * 10 + p.x];
  if (t.x == 0) tile[p.y][0] = x[p.y * 10];
  if (t.x == 7) tile[p.y][9] = x[p.y * 10 + 9];
  if (t.y == 0) tile[0][p.x] = x[p.x];
  if (t.y == 7) tile[9][p.x] = x[90 + p.x];
#ifdef REPAIRED
  if (t.x % 7 == 0 && t.y % 7 == 0) tile[t.y / 7 * 9][t.x / 7 * 9] = x[t.y / 7 * 90 + t.x / 7 * 9];
#endif
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 9; ++k) sum += tile[t.y + k / 3][t.x + k % 3];  // @tap
  out[t.y * 8 + t.x] = sum / 9;
}
