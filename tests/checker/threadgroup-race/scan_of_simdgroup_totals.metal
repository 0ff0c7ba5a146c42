// A scan in two stages. The first simdgroup turns the totals of all simdgroups into their offsets, and the others fetch
// theirs without waiting for it.
// CHECK: --threads 256 --group 256 --arg x=u32[256]=ones
// FINDS: threadgroup-race offset fetch
#include <metal_stdlib>
using namespace metal;

kernel void scan(device uint* x, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint totals[8], offsets[8];
  const uint before = simd_prefix_exclusive_sum(x[i]);
  if (lane == 31) totals[simdgroup] = before + x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup == 0) {
    const uint offset = simd_prefix_exclusive_sum(lane < 8 ? totals[lane] : 0);
    if (lane < 8) offsets[lane] = offset;  // @offset
  }
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  x[i] = offsets[simdgroup] + before;  // @fetch
}
