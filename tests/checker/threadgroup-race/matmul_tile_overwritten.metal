// A matrix product by tiles that has the barrier after loading, but none after using: the next tile overwrites this one
// while slower threads still multiply. A row of the left tile belongs to one simdgroup, so that it is only lanes of it
// that meet there; the right tile is shared by all.
// CHECK: --threads 16,16 --group 16,16 --arg a=f32[16,64]=uniform --arg b=f32[64,16]=uniform --arg c=f32[16,16]=zeros
// FINDS: lockstep load_a use
// FINDS: threadgroup-race load_b use
#include <metal_stdlib>
using namespace metal;

kernel void matmul(device const float* a, device const float* b, device float* c,
                   uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float left[16][16], right[16][16];
  float sum = 0;
  for (uint k = 0; k < 64; k += 16) {
    left[t.y][t.x] = a[t.y * 64 + k + t.x];     // @load_a
    right[t.y][t.x] = b[(k + t.y) * 16 + t.x];  // @load_b
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 16; ++j) sum += left[t.y][j] * right[j][t.x];  // @use
#ifdef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  }
  c[t.y * 16 + t.x] = sum;
}
