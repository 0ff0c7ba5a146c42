// A scan in one dispatch: each threadgroup leaves its total and takes that of the threadgroup before it, which need not
// have run. Threadgroups run in any order.
// CHECK: --threads 128 --group 32 --arg x=u32[128]=ones --arg totals=u32[4]=zeros
// FINDS: device-race leave take
#include <metal_stdlib>
using namespace metal;

kernel void scan(device uint* x, device uint* totals, uint i [[thread_position_in_grid]],
                 uint lane [[thread_index_in_simdgroup]], uint group [[threadgroup_position_in_grid]]) {
  const uint before = simd_prefix_exclusive_sum(x[i]);
#ifdef REPAIRED
  if (lane == 31) totals[group] = before + x[i];  // a second dispatch adds them
  x[i] = before;
#else
  const uint earlier = group > 0 ? totals[group - 1] : 0;  // @take
  if (lane == 31) totals[group] = earlier + before + x[i];  // @leave
  x[i] = earlier + before;
#endif
}
