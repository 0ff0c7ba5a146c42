// A tile with a halo on its left is read across behind a barrier that fences nothing, and the halo of the first row
// begins before the picture.
// CHECK: --threads 8,8 --group 8,8 --arg x=f32[8,8]=arange --arg out=f32[8,8]=zeros
// FINDS: out-of-bounds halo
// FINDS: missing-fence halo across
// FINDS: missing-fence body across
#include <metal_stdlib>
using namespace metal;

kernel void differences(device const float* x, device float* out, uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8][9];
#ifdef REPAIRED
  if (t.x == 0) tile[t.y][0] = t.y > 0 ? x[t.y * 8 - 1] : 0;
#else
  if (t.x == 0) tile[t.y][0] = x[int(t.y) * 8 - 1];  // @halo
#endif
  tile[t.y][t.x + 1] = x[t.y * 8 + t.x];  // @body
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#else
  threadgroup_barrier(mem_flags::mem_none);
#endif
  out[t.y * 8 + t.x] = tile[t.x][t.y + 1] - tile[t.x][t.y];  // @across
}
