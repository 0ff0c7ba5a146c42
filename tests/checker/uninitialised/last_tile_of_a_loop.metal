// A loop over tiles of 32 keys, in which only the keys that exist are loaded. In the last tile the others are those of
// the tile before, but here the first tile is the last.
// CHECK: --threads 32 --group 32 --arg keys=f16[20]=uniform --arg out=f32[1]=zeros --arg n=20
// FINDS: uninitialised key
#include <metal_stdlib>
using namespace metal;

kernel void sum_of_keys(device const half* keys, device float* out, constant uint& n,
                        uint i [[thread_position_in_threadgroup]]) {
  threadgroup half tile[32];
  float sum = 0;
  for (uint first = 0; first < n; first += 32) {
    if (first + i < n) tile[i] = keys[first + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef REPAIRED
    const uint count = min(n - first, 32u);
#else
    const uint count = 32;
#endif
    for (uint k = 0; k < count; ++k) sum += float(tile[k]);  // @key
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (i == 0) out[0] = sum;
}
