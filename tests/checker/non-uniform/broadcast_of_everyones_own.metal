// simd_broadcast takes one lane for all. What was meant is simd_shuffle, which takes one for each.
// CHECK: --threads 32 --group 32 --arg x=f32[32]=arange --arg out=f32[32]=zeros
// FINDS: non-uniform broadcast
#include <metal_stdlib>
using namespace metal;

kernel void rows(device const float* x, device float* out, ushort lane [[thread_index_in_simdgroup]]) {
#ifdef REPAIRED
  out[lane] = simd_shuffle(x[lane], ushort(lane / 8));
#else
  out[lane] = simd_broadcast(x[lane], ushort(lane / 8));  // @broadcast
#endif
}
