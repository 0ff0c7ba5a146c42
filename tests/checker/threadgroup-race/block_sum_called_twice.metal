// A helper that sums over the threadgroup is right when it is called once. Called again with the same memory, its first
// write meets the reads at the end of the call before.
// CHECK: --threads 128 --group 128 --arg x=f32[128]=uniform
// FINDS: threadgroup-race put take
#include <metal_stdlib>
using namespace metal;

template <typename T>
T block_sum(T value, threadgroup T* parts, uint lane, uint simdgroup) {
  value = simd_sum(value);
  if (lane == 0) parts[simdgroup] = value;  // @put
  threadgroup_barrier(mem_flags::mem_threadgroup);
  T sum = 0;
  for (uint k = 0; k < 4; ++k) sum += parts[k];  // @take
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  return sum;
}

kernel void layer_norm(device float* x, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[4];
  const float centred = x[i] - block_sum(x[i], parts, lane, simdgroup) / 128;
  x[i] = centred * rsqrt(block_sum(centred * centred, parts, lane, simdgroup) / 128 + 1e-5f);
}
