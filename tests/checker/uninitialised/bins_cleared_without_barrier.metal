// The bins of a histogram are cleared atomically, and counted up without waiting for that. Atomic operations do not race:
// a count that comes first is lost, or added to what was there.
// CHECK: --threads 64 --group 64 --arg x=u32[64]=arange --arg bins=u32[16]=zeros
// FINDS: uninitialised count clear
#include <metal_stdlib>
using namespace metal;

kernel void histogram(device const uint* x, device uint* bins, uint i [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint counts[16];
  if (i < 16) atomic_store_explicit(&counts[i], 0, memory_order_relaxed);  // @clear
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  atomic_fetch_add_explicit(&counts[x[i] % 16], 1, memory_order_relaxed);  // @count
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 16) bins[i] = atomic_load_explicit(&counts[i], memory_order_relaxed);
}
