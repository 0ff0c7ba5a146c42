// The total of a scan lies in lane 31. The second simdgroup has eight lanes.
// CHECK: --threads 40 --group 40 --arg x=u32[40]=ones --arg out=u32[40]=zeros
// FINDS: inactive-lane total
#include <metal_stdlib>
using namespace metal;

kernel void totals(device const uint* x, device uint* out, uint i [[thread_position_in_grid]]) {
  const uint scanned = simd_prefix_inclusive_sum(x[i]);
#ifdef REPAIRED
  const ushort last = ushort(simd_sum(1u)) - 1;
#else
  const ushort last = 31;
#endif
  out[i] = simd_broadcast(scanned, last);  // @total
}
