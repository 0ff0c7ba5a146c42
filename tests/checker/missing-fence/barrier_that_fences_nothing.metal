// The threads meet, but the barrier names no memory: mem_none waits for threads and not for what they wrote.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange
// FINDS: missing-fence write read
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device float* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[i] = x[i];  // @write
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#else
  threadgroup_barrier(mem_flags::mem_none);
#endif
  x[i] = t[63 - i];  // @read
}
