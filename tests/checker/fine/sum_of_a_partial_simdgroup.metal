// Reductions over lanes that exist: the second simdgroup has four.
// CHECK: --threads 36 --group 36 --arg x=f32[36]=ones --arg out=f32[36]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = simd_sum(x[i]) + simd_max(x[i]) + quad_sum(x[i]);
}
