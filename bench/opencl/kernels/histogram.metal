// Counts of 256 values: in threadgroup memory first, then in the result.
#include <metal_stdlib>
using namespace metal;

kernel void histogram(device atomic_uint* counts, device const uint* values, constant uint& length,
                      uint position [[thread_position_in_grid]], uint grid_size [[threads_per_grid]],
                      uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint local_counts[256];
  atomic_store_explicit(&local_counts[thread_index], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = position; i < length; i += grid_size) {
    atomic_fetch_add_explicit(&local_counts[values[i] & 255], 1u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint count = atomic_load_explicit(&local_counts[thread_index], memory_order_relaxed);
  if (count > 0) atomic_fetch_add_explicit(&counts[thread_index], count, memory_order_relaxed);
}
