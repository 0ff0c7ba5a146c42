// Two macros load a tile; the one without "AND_WAIT" was taken.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange --arg y=f32[64]=zeros
// FINDS: threadgroup-race load use
#include <metal_stdlib>
using namespace metal;

#define LOAD(tile, from, i) tile[i] = from[i]  // @load
#define LOAD_AND_WAIT(tile, from, i) \
  LOAD(tile, from, i);               \
  threadgroup_barrier(mem_flags::mem_threadgroup)

kernel void shifted(device const float* x, device float* y, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
#ifdef REPAIRED
  LOAD_AND_WAIT(tile, x, i);
#else
  LOAD(tile, x, i);
#endif
  y[i] = tile[(i + 32) % 64];  // @use
}
