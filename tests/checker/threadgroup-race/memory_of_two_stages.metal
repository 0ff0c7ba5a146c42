// One piece of threadgroup memory serves two stages, floats in the first and counts in the second. Between the last
// read of the floats and the first write of the counts nothing waits.
// CHECK: --threads 64 --group 64 --threadgroup-memory 0=256 --arg x=f32[64]=arange --arg out=u32[64]=zeros
// FINDS: threadgroup-race first second
#include <metal_stdlib>
using namespace metal;

kernel void stages(device const float* x, device uint* out, threadgroup float* values [[threadgroup(0)]],
                   uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint* counts = (threadgroup uint*)values;
  values[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float other = values[63 - i];  // @first
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  counts[i] = uint(other) * 2;  // @second
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = counts[63 - i];
}
