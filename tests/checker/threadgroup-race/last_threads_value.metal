// The last thread leaves its total for the others, which take it at once.
// CHECK: --threads 16,8 --group 16,8 --arg x=f32[8,16]=uniform
// FINDS: threadgroup-race leave take
#include <metal_stdlib>
using namespace metal;

kernel void normalise(device float* x, uint2 p [[thread_position_in_grid]],
                      uint i [[thread_index_in_threadgroup]]) {
  threadgroup float last;
  const uint at = p.y * 16 + p.x;
  if (i == 127) last = x[at];  // @leave
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  x[at] /= last + 1;  // @take
}
