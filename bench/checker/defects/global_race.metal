// Threadgroups shift an array in place: at their ends each reads what another writes.
#include <metal_stdlib>
using namespace metal;

kernel void global_race(device uint* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  const uint next = i + 1 < n ? x[i + 1] : 0;  // wrong
  threadgroup_barrier(mem_flags::mem_device);
  x[i] = next;  // wrong
}
