// The entropy of probabilities, of which one is zero.
// CHECK: --also not-finite --threads 4 --group 4 --arg p=f32[4]=0.5,0.25,0.25,0 --arg out=f32[4]=zeros
// FINDS: not-finite logarithm
#include <metal_stdlib>
using namespace metal;

kernel void entropy(device const float* p, device float* out, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  const float l = log(max(p[i], 1e-20f));
#else
  const float l = log(p[i]);  // @logarithm
#endif
  out[i] = p[i] > 0 ? -p[i] * l : 0;
}
