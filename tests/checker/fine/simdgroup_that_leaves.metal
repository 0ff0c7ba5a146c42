// A simdgroup without a row leaves as a whole; the others use operations over the simdgroup and over no more.
// CHECK: --threadgroups 1 --group 128 --arg x=f32[3,32]=uniform --arg out=f32[3]=zeros --arg rows=3
#include <metal_stdlib>
using namespace metal;

kernel void row_sums(device const float* x, device float* out, constant uint& rows,
                     uint lane [[thread_index_in_simdgroup]], uint row [[simdgroup_index_in_threadgroup]]) {
  if (row >= rows) return;
  const float sum = simd_sum(x[row * 32 + lane]);
  simdgroup_barrier(mem_flags::mem_none);
  if (lane == 0) out[row] = sum;
}
