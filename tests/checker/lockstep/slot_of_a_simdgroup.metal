// Lane 0 leaves a value in the slot of its simdgroup, and all lanes of it take the value at once. simd_broadcast_first
// would need no memory at all.
// CHECK: --threads 128 --group 128 --arg x=f32[128]=uniform
// FINDS: lockstep leave take
#include <metal_stdlib>
using namespace metal;

kernel void scale(device float* x, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float slots[4];
  const float largest = simd_max(x[i]);
  if (lane == 0) slots[simdgroup] = 1 / largest;  // @leave
#ifdef REPAIRED
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
  x[i] *= slots[simdgroup];  // @take
}
