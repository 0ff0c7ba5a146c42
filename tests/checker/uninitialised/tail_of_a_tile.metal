// A matrix product by tiles: where the inner dimension is no multiple of the tile, the last tile is loaded in part, and
// multiplied whole.
// CHECK: --threads 8,8 --group 8,8 --arg a=f32[8,12]=uniform --arg b=f32[12,8]=uniform --arg c=f32[8,8]=zeros --arg inner=4
// FINDS: uninitialised use
#include <metal_stdlib>
using namespace metal;

kernel void matmul(device const float* a, device const float* b, device float* c, constant uint& inner,
                   uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float left[8][8], right[8][8];
  float sum = 0;
#ifdef REPAIRED
  left[t.y][t.x] = t.x < inner ? a[t.y * 12 + t.x] : 0;
#else
  if (t.x < inner) left[t.y][t.x] = a[t.y * 12 + t.x];
#endif
  right[t.y][t.x] = t.y < inner ? b[t.y * 8 + t.x] : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 8; ++k) sum += left[t.y][k] * right[k][t.x];  // @use
  c[t.y * 8 + t.x] = sum;
}
