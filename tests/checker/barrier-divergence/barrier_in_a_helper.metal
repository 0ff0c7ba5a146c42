// A helper that ends with a barrier is called by the first simdgroup only; that there is a barrier in it does not show
// in the caller.
// CHECK: --threads 128 --group 128 --arg x=f32[128]=uniform
// FINDS: barrier-divergence publish wait
#include <metal_stdlib>
using namespace metal;

void publish(threadgroup float* to, float value) {
  *to = value;
#ifndef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);  // @publish
#endif
}

kernel void scale(device float* x, uint i [[thread_position_in_threadgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float factors[4];
  const float sum = simd_sum(x[i]);
  if (simdgroup == 0) {
    if (simd_is_first()) factors[0] = 1 / sum;
    publish(factors + 1, sum);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);  // @wait
  x[i] *= factors[0];
}
