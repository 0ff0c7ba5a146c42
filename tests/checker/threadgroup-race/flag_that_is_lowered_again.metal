// Odd-even sorting that counts the turns in which something changed: after the last barrier of a turn all threads look
// at the flag, and thread 0 lowers it for the next turn, while others may not have looked yet.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=uniform --arg turns=u32[64]=zeros
// FINDS: threadgroup-race look lower
#include <metal_stdlib>
using namespace metal;

kernel void sort(device float* x, device uint* turns, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[64];
  threadgroup uint changed;
  t[i] = x[i];
  for (uint turn = 0; turn < 32; ++turn) {
    if (i == 0) changed = 0;  // @lower
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint odd = 0; odd < 2; ++odd) {
      if (i % 2 == odd && i < 63 && t[i] > t[i + 1]) {
        const float larger = t[i];
        t[i] = t[i + 1];
        t[i + 1] = larger;
        changed = 1;
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    turns[i] += changed;  // @look
#ifdef REPAIRED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  }
  x[i] = t[i];
}
