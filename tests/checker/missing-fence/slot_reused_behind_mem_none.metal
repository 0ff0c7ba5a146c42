// Two reductions share their slots. Between the reads of the first and the writes of the second there is a barrier, but
// one without a fence.
// CHECK: --threads 128 --group 128 --arg x=f32[128]=uniform
// FINDS: missing-fence read write
#include <metal_stdlib>
using namespace metal;

kernel void normalise(device float* x, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float slots[4];
  const float largest_here = simd_max(x[i]);
  if (lane == 0) slots[simdgroup] = largest_here;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float largest = simd_max(slots[lane & 3]);  // @read
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#else
  threadgroup_barrier(mem_flags::mem_none);
#endif
  const float sum_here = simd_sum(x[i] / largest);
  if (lane == 0) slots[simdgroup] = sum_here;  // @write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] /= largest * simd_sum(lane < 4 ? slots[lane] : 0.0f);
}
