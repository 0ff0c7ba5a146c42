// Bins are cleared by plain stores and counted into by atomics, with nothing between: a bin may be cleared after
// another thread has counted. That the counting is atomic does not help.
// CHECK: --threads 64 --group 64 --arg x=u32[64]=arange --arg bins=u32[64]=zeros
// FINDS: threadgroup-race clear count
#include <metal_stdlib>
using namespace metal;

kernel void histogram(device const uint* x, device uint* bins, uint i [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint counts[64];
  reinterpret_cast<threadgroup uint*>(counts)[i] = 0;  // @clear
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  atomic_fetch_add_explicit(&counts[63 - x[i]], 1, memory_order_relaxed);  // @count
  threadgroup_barrier(mem_flags::mem_threadgroup);
  bins[i] = atomic_load_explicit(&counts[i], memory_order_relaxed);
}
