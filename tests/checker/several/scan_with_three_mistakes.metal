// A scan that steps within a simdgroup without barriers, fetches the total of the simdgroup before it too early, and
// divides by the number of simdgroups behind it.
// CHECK: --threads 64 --group 64 --arg x=u32[64]=ones --arg out=u32[64]=zeros
// FINDS: lockstep step step
// FINDS: threadgroup-race total fetch
// FINDS: division-by-zero share
#include <metal_stdlib>
using namespace metal;

kernel void scan(device const uint* x, device uint* out, uint i [[thread_position_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint t[64], totals[2];
#ifdef REPAIRED
  t[i] = simd_prefix_inclusive_sum(x[i]);
#else
  t[i] = x[i];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 1; step < 32; step *= 2) {
    if (lane >= step) t[i] += t[i - step];  // @step
  }
#endif
  if (lane == 31) totals[simdgroup] = t[i];  // @total
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  const uint before = simdgroup == 0 ? 0 : totals[0];  // @fetch
#ifdef REPAIRED
  out[i] = t[i] + before;
#else
  out[i] = (t[i] + before) / (1 - simdgroup);  // @share
#endif
}
