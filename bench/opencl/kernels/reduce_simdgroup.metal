// The sum of each 2048 elements: eight per thread, then over the simdgroups, then over their sums.
#include <metal_stdlib>
using namespace metal;

kernel void reduce_simdgroup(device float* sums, device const float* in, uint group [[threadgroup_position_in_grid]],
                             uint thread_index [[thread_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float scratch[8];
  float sum = 0;
  for (uint i = 0; i < 8; ++i) sum += in[group * 2048 + i * 256 + thread_index];
  sum = simd_sum(sum);
  if (lane == 0) scratch[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup == 0) {
    sum = simd_sum(lane < 8 ? scratch[lane] : 0.0f);
    if (lane == 0) sums[group] = sum;
  }
}
