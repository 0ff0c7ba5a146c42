// Bitonic sort: each comparison reads the partner's element, waits, and writes its own. The barrier after the write
// stands behind the inner loop, so that the next comparison reads while this one still writes.
// CHECK: --threads 128 --group 128 --arg x=f32[128]=uniform
// FINDS: threadgroup-race read write
#include <metal_stdlib>
using namespace metal;

kernel void sort(device float* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[128];
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 2; k <= 128; k *= 2) {
    for (uint j = k / 2; j > 0; j /= 2) {
      const float own = t[i], other = t[i ^ j];  // @read
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const bool smaller = ((i & j) == 0) == ((i & k) == 0);
      t[i] = smaller ? min(own, other) : max(own, other);  // @write
#ifdef REPAIRED
      threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  x[i] = t[i];
}
