// Flags are packed eight to a byte: setting a bit reads and writes the whole byte, which eight threads do at once. A
// byte for each flag is right, although four of them share a word.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=normal --arg out=u8[64]=zeros
// FINDS: threadgroup-race set set
#include <metal_stdlib>
using namespace metal;

kernel void positive(device const float* x, device uchar* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uchar flags[64];
  flags[i] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef REPAIRED
  flags[i] = x[i] > 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = flags[63 - i];
#else
  flags[i % 8] |= uchar((x[i] > 0) << (i / 8));  // @set
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = flags[i % 8] >> (i / 8) & 1;
#endif
}
