// A barrier in a loop and in a branch that depend on memory, in the same way for all threads.
// CHECK: --threads 64 --group 64 --arg x=u32[64]=arange --arg turns=u32[2]=3,1
#include <metal_stdlib>
using namespace metal;

kernel void turned(device uint* x, device const uint* turns, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint t[64];
  for (uint k = 0; k < turns[0]; ++k) {
    if (turns[1] == 1) {
      t[i] = x[i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      x[i] = t[(i + 1) % 64];
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
}
