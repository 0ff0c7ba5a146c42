// Each lane fills two elements of a tile, and the simdgroup loads the tile as a matrix without a barrier.
// CHECK: --threads 32 --group 32 --arg x=f32[64]=arange --arg out=f32[8,8]=zeros
// FINDS: lockstep fill load
#include <metal_stdlib>
using namespace metal;

kernel void doubled(device const float* x, device float* out, ushort lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[64];
  for (ushort k = lane; k < 64; k += 32) tile[k] = x[k] * 2;  // @fill
#ifdef REPAIRED
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
  simdgroup_float8x8 m;
  simdgroup_load(m, tile, 8);  // @load
  simdgroup_store(m, out, 8);
}
