// The barrier names textures, of which the kernel has none.
// CHECK: --threads 8,8 --group 8,8 --arg x=i32[8,8]=arange --arg out=i32[8,8]=zeros
// FINDS: missing-fence write read
#include <metal_stdlib>
using namespace metal;

kernel void transpose(device const int* x, device int* out, uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup int tile[8][8];
  tile[t.y][t.x] = x[t.y * 8 + t.x];  // @write
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#else
  threadgroup_barrier(mem_flags::mem_texture);
#endif
  out[t.y * 8 + t.x] = tile[t.x][t.y];  // @read
}
