// A histogram in threadgroup memory with a plain ++: of two threads that find the same value, one is lost.
// CHECK: --threads 64 --group 64 --arg x=u32[64]=arange --arg bins=u32[32]=zeros
// FINDS: threadgroup-race count count
#include <metal_stdlib>
using namespace metal;

kernel void histogram(device const uint* x, device uint* bins, uint i [[thread_position_in_threadgroup]]) {
#ifdef REPAIRED
  threadgroup atomic_uint counts[32];
  if (i < 32) atomic_store_explicit(&counts[i], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&counts[x[i] % 32], 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 32) bins[i] = atomic_load_explicit(&counts[i], memory_order_relaxed);
#else
  threadgroup uint counts[32];
  if (i < 32) counts[i] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  counts[x[i] % 32]++;  // @count
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 32) bins[i] = counts[i];
#endif
}
