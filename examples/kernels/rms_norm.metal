// RMSNorm over the rows of a matrix: out = x / sqrt(mean(x^2) + epsilon) * weight.
//
// One threadgroup per row. Each thread sums the squares of every n-th element; simd_sum adds them up within
// a simdgroup, and the first simdgroup adds up the simdgroups' sums, which the others left in threadgroup memory.
//
//   metalloid run examples/kernels/rms_norm.metal --kernel rms_norm --threadgroups 8 --group 256
//       --arg out=f32[8,1024]=zeros --arg x=f32[8,1024]=normal --arg weight=f32[1024]=ones
//       --arg columns=u32:1024 --arg epsilon=f32:1e-5
#include <metal_stdlib>
using namespace metal;

kernel void rms_norm(device float* out [[buffer(0)]],
                     device const float* x [[buffer(1)]],
                     device const float* weight [[buffer(2)]],
                     constant uint& columns [[buffer(3)]],
                     constant float& epsilon [[buffer(4)]],
                     uint row [[threadgroup_position_in_grid]],
                     uint thread_index [[thread_index_in_threadgroup]],
                     uint threads [[threads_per_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float partial_sums[32];
  threadgroup float scale;

  device const float* row_in = x + size_t(row) * columns;
  float sum = 0;
  for (uint column = thread_index; column < columns; column += threads) {
    sum += row_in[column] * row_in[column];
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    partial_sums[simdgroup] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  if (simdgroup == 0) {
    sum = simd_sum(lane < simdgroups ? partial_sums[lane] : 0.0f);
    if (lane == 0) {
      scale = rsqrt(sum / columns + epsilon);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  device float* row_out = out + size_t(row) * columns;
  for (uint column = thread_index; column < columns; column += threads) {
    row_out[column] = row_in[column] * scale * weight[column];
  }
}
