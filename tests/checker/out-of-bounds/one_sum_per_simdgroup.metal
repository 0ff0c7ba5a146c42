// Each simdgroup leaves a sum; the output has a place for each threadgroup.
// CHECK: --threads 256 --group 64 --arg x=f32[256]=ones --arg out=f32[4]=zeros
// CHECK REPAIRED: --threads 256 --group 64 --arg x=f32[256]=ones --arg out=f32[8]=zeros
// FINDS: out-of-bounds leave
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const float* x, device float* out, uint i [[thread_position_in_grid]],
                 uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]],
                 uint simdgroups [[simdgroups_per_threadgroup]]) {
  const float sum = simd_sum(x[i]);
  if (lane == 0) out[group * simdgroups + simdgroup] = sum;  // @leave
}
