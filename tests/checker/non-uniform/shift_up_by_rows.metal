// Rows of eight lanes, each shifted by its own number.
// CHECK: --threads 64 --group 64 --arg x=f16[64]=arange --arg out=f16[64]=zeros
// FINDS: non-uniform shift
#include <metal_stdlib>
using namespace metal;

kernel void skew(device const half* x, device half* out, uint i [[thread_position_in_grid]],
                 ushort lane [[thread_index_in_simdgroup]]) {
  const ushort row = lane / 8;
#ifdef REPAIRED
  out[i] = simd_shuffle(x[i], ushort(lane >= row ? lane - row : lane));
#else
  out[i] = simd_shuffle_up(x[i], row);  // @shift
#endif
}
