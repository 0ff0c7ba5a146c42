// A threadgroup turns its elements round by way of threadgroup memory, and reads before the others have written.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=arange
// FINDS: threadgroup-race write read
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device float* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  t[i] = x[i];  // @write
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  x[i] = t[63 - i];  // @read
}
