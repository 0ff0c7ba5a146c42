// Each simdgroup clears and counts in bins of its own, and waits in between; one thread uses what it has cleared at once.
// CHECK: --threads 128 --group 64 --arg x=u32[128]=arange --arg bins=u32[32]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void histograms(device const uint* x, device atomic_uint* bins, uint i [[thread_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup atomic_uint counts[2][32], turns[64];
  atomic_store_explicit(&counts[simdgroup][lane], 0, memory_order_relaxed);
  atomic_store_explicit(&turns[i % 64], 0, memory_order_relaxed);
  atomic_fetch_add_explicit(&turns[i % 64], 1, memory_order_relaxed);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&counts[simdgroup][x[i] % 32], 1, memory_order_relaxed);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  const uint count = atomic_load_explicit(&counts[simdgroup][lane], memory_order_relaxed);
  atomic_fetch_add_explicit(bins + lane, count + atomic_load_explicit(&turns[i % 64], memory_order_relaxed),
                            memory_order_relaxed);
}
