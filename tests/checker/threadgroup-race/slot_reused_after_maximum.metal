// Softmax: the simdgroups' slots hold the maxima first, then the sums. A fast simdgroup puts its sum into its slot
// while a slow one still reads the maxima.
// CHECK: --threads 128 --group 128 --arg x=f32[128]=uniform
// FINDS: threadgroup-race maximum sum
#include <metal_stdlib>
using namespace metal;

kernel void softmax(device float* x, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float slots[4];
  const float largest_here = simd_max(x[i]);
  if (lane == 0) slots[simdgroup] = largest_here;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float largest = simd_max(slots[lane % 4]);  // @maximum
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  const float e = exp(x[i] - largest);
  const float sum_here = simd_sum(e);
  if (lane == 0) slots[simdgroup] = sum_here;  // @sum
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float sum = slots[0] + slots[1] + slots[2] + slots[3];
  x[i] = e / sum;
}
