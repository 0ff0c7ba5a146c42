// Each simdgroup takes its own number of turns, with a barrier in each: the shorter one waits behind the loop while the
// longer one waits in it.
// CHECK: --threads 64 --group 64 --arg lengths=u32[2]=1,2 --arg out=u32[64]=zeros
// FINDS: barrier-divergence turn behind
#include <metal_stdlib>
using namespace metal;

kernel void turns(device const uint* lengths, device uint* out, uint i [[thread_position_in_threadgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint t[64];
  t[i] = 0;
#ifdef REPAIRED
  const uint turns = max(lengths[0], lengths[1]);
#else
  const uint turns = lengths[simdgroup];
#endif
  for (uint k = 0; k < turns; ++k) {
    t[i] += k + 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @turn
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);  // @behind
  out[i] = t[i];
}
