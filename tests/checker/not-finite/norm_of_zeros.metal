// A row of zeros is normalised without an epsilon.
// CHECK: --also not-finite --threads 32 --group 32 --arg x=f32[32]=zeros
// FINDS: not-finite root
#include <metal_stdlib>
using namespace metal;

kernel void rms_norm(device float* x, uint i [[thread_position_in_threadgroup]]) {
  const float mean = simd_sum(x[i] * x[i]) / 32;
#ifdef REPAIRED
  const float factor = rsqrt(mean + 1e-5f);
#else
  const float factor = rsqrt(mean);  // @root
#endif
  x[i] = x[i] == 0 ? 0 : x[i] * factor;
}
