// The lower half of a tile is filled, and the whole of it is loaded as a matrix.
// CHECK: --threads 32 --group 32 --arg x=f16[32]=arange --arg out=f16[64]=zeros
// FINDS: uninitialised load
#include <metal_stdlib>
using namespace metal;

kernel void tile(device const half* x, device half* out, ushort lane [[thread_index_in_simdgroup]]) {
  threadgroup half memory[64];
  memory[lane] = x[lane];
#ifdef REPAIRED
  memory[lane + 32] = 0;
#endif
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_half8x8 m;
  simdgroup_load(m, memory, 8);  // @load
  simdgroup_store(m, out, 8);
}
