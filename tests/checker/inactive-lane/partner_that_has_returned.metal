// A butterfly of sums: threads without an element have returned, and their partners take a value from them.
// CHECK: --threads 32 --group 32 --arg x=f32[24]=ones --arg out=f32[24]=zeros --arg n=24
// FINDS: inactive-lane partner
#include <metal_stdlib>
using namespace metal;

kernel void butterfly(device const float* x, device float* out, constant uint& n,
                      uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  float sum = i < n ? x[i] : 0;
#else
  if (i >= n) return;
  float sum = x[i];
#endif
  for (ushort mask = 16; mask > 0; mask /= 2) {
    sum += simd_shuffle_xor(sum, mask);  // @partner
  }
  if (i < n) out[i] = sum;
}
