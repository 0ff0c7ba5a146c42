// A two-dimensional threadgroup whose last rows have no work and skip the loop with the barriers.
// CHECK: --threads 32,4 --group 32,4 --arg x=f32[3,32]=uniform --arg out=f32[32]=zeros --arg rows=3
// FINDS: barrier-divergence added done
#include <metal_stdlib>
using namespace metal;

kernel void column_sums(device const float* x, device float* out, constant uint& rows,
                        uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float sums[32];
  if (t.y == 3) sums[t.x] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef REPAIRED
  for (uint row = 0; row < rows; ++row) {
    if (t.y == row) sums[t.x] += x[row * 32 + t.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
#else
  if (t.y < rows) {
    for (uint row = 0; row < 1; ++row) {
      if (t.y == row) sums[t.x] += x[row * 32 + t.x];
      threadgroup_barrier(mem_flags::mem_threadgroup);  // @added
    }
  }
#endif
  threadgroup_barrier(mem_flags::mem_threadgroup);  // @done
  if (t.y == 0) out[t.x] = sums[t.x];
}
