// Softmax over a row with three mistakes: the maxima are read before they are there, the sums overwrite them too early,
// and the row is one element shorter than the threadgroup.
// CHECK: --threads 64 --group 64 --arg x=f32[63]=uniform
// FINDS: out-of-bounds element
// FINDS: out-of-bounds result
// FINDS: threadgroup-race maximum largest
// FINDS: threadgroup-race largest sum
#include <metal_stdlib>
using namespace metal;

kernel void softmax(device float* x, uint i [[thread_position_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float slots[2];
#ifdef REPAIRED
  const float v = i < 63 ? x[i] : -INFINITY;
#else
  const float v = x[i];  // @element
#endif
  const float largest_here = simd_max(v);
  if (lane == 0) slots[simdgroup] = largest_here;  // @maximum
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  const float largest = max(largest_here, slots[1 - simdgroup]);  // @largest
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  const float e = exp(v - largest), sum_here = simd_sum(e);
  if (lane == 0) slots[simdgroup] = sum_here;  // @sum
  threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef REPAIRED
  if (i < 63)
#endif
    x[i] = e / (slots[0] + slots[1]);  // @result
}
