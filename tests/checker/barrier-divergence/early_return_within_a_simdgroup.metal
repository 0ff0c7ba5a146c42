// The same, with threads that leave in the middle of a simdgroup.
// CHECK: --strict --threadgroups 2 --group 64 --arg x=f16[100]=arange --arg out=f16[100]=zeros --arg n=100
// FINDS: barrier-divergence barrier
#include <metal_stdlib>
using namespace metal;

kernel void neighbours(device const half* x, device half* out, constant uint& n, uint g [[thread_position_in_grid]],
                       uint i [[thread_position_in_threadgroup]]) {
  threadgroup half t[64];
#ifdef REPAIRED
  t[i] = g < n ? x[g] : 0;
#else
  if (g >= n) return;
  t[i] = x[g];
#endif
  threadgroup_barrier(mem_flags::mem_threadgroup);  // @barrier
  if (g < n) out[g] = t[i] + (i > 0 ? t[i - 1] : 0);
}
