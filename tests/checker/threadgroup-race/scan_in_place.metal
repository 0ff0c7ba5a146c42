// Sums of all before, by doubling steps in one array: there is a barrier after each step, but within it one thread
// reads an element that another one is adding to.
// CHECK: --threads 64 --group 64 --arg x=u32[64]=ones
// FINDS: threadgroup-race add add
#include <metal_stdlib>
using namespace metal;

kernel void scan(device uint* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint t[64];
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 1; step < 64; step *= 2) {
#ifdef REPAIRED
    const uint before = i >= step ? t[i - step] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    t[i] += before;
#else
    if (i >= step) t[i] += t[i - step];  // @add
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  x[i] = t[i];
}
