// A two-dimensional threadgroup, but an index into threadgroup memory that has only the column: all rows write one row.
// CHECK: --threads 8,8 --group 8,8 --arg x=f32[64]=arange --arg out=f32[64]=zeros
// FINDS: threadgroup-race write write
#include <metal_stdlib>
using namespace metal;

kernel void squares(device const float* x, device float* out, uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
#ifdef REPAIRED
  tile[t.y * 8 + t.x] = x[t.y * 8 + t.x];
#else
  tile[t.x] = x[t.y * 8 + t.x];  // @write
#endif
  threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef REPAIRED
  out[t.y * 8 + t.x] = tile[t.x * 8 + t.y];
#else
  out[t.y * 8 + t.x] = tile[t.x];
#endif
}
