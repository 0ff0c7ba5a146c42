// A sum over the simdgroup inside of a bounds check, while the other lanes wait behind it.
// CHECK: --threads 64 --group 64 --arg x=f32[48]=ones --arg out=f32[64]=zeros --arg n=48
// FINDS: divergent-operation sum
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float* x, device float* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  float total = 0;
#ifdef REPAIRED
  total = simd_sum(i < n ? x[i] : 0.0f);
#else
  if (i < n) total = simd_sum(x[i]);  // @sum
#endif
  out[i] = total;
}
