// Argmax: every thread that has something larger writes the value and then the index. Others look and write at the same
// time, and the index of one may stay beside the value of another.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange --arg out=u32[1]=zeros
// FINDS: threadgroup-race look value
// FINDS: threadgroup-race value value
// FINDS: threadgroup-race index index
#include <metal_stdlib>
using namespace metal;

kernel void argmax(device const float* x, device uint* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float value;
  threadgroup uint index;
  if (i == 0) value = -INFINITY;
  threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef REPAIRED
  const float largest = simd_max(x[i]);
  for (uint k = 0; k < 64; k += 32) {
    if (i / 32 == k / 32 && x[i] == largest && largest > value) {
      value = largest;
      index = i;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
#else
  if (x[i] > value) {  // @look
    value = x[i];      // @value
    index = i;         // @index
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  if (i == 0) out[0] = index;
}
