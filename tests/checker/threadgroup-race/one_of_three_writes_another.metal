// Three write one place, and two of them the same.
// CHECK: --threads 96 --group 96 --arg x=u32[96]=zeros
// FINDS: threadgroup-race one two
// FINDS: threadgroup-race one three
#include <metal_stdlib>
using namespace metal;

kernel void chosen(device uint* x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint4 chosen;
#ifdef REPAIRED
  if (i == 0) chosen = uint4(2);
#else
  if (i == 0) chosen = uint4(1);  // @one
#endif
  if (i == 32) chosen = uint4(2);  // @two
  if (i == 64) chosen = uint4(2);  // @three
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = chosen.x;
}
