// The barrier is there for large threadgroups only, by a function constant that the host sets for small ones as well.
// CHECK: --constant is_large=false --threads 4,4,4 --group 4,4,4 --arg x=i16[64]=arange
// CHECK REPAIRED: --constant is_large=true --threads 4,4,4 --group 4,4,4 --arg x=i16[64]=arange
// FINDS: threadgroup-race write read
#include <metal_stdlib>
using namespace metal;

constant bool is_large [[function_constant(0)]];

kernel void mirrored(device short* x, ushort3 p [[thread_position_in_threadgroup]]) {
  threadgroup short t[4][4][4];
  const ushort at = (p.z * 4 + p.y) * 4 + p.x;
  t[p.z][p.y][p.x] = x[at];  // @write
  if (is_large) threadgroup_barrier(mem_flags::mem_threadgroup);
  x[at] = t[3 - p.z][p.y][p.x];  // @read
}
