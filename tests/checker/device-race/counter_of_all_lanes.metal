// Threads of all threadgroups add to the same 32 sums, and lanes of one simdgroup share them in pairs, too: the race of
// threadgroups is told, which is the graver one.
// CHECK: --threads 128 --group 64 --skip lockstep --arg x=u32[128]=arange --arg sums=u32[16]=zeros
// FINDS: device-race add add
#include <metal_stdlib>
using namespace metal;

kernel void add(device const uint* x, device uint* sums, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  atomic_fetch_add_explicit((device atomic_uint*)sums + i % 16, x[i], memory_order_relaxed);
#else
  sums[i % 16] += x[i];  // @add
#endif
}
