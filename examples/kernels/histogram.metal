// Counts how often each byte value occurs.
//
// Every threadgroup counts into its own 256 counters in threadgroup memory, where atomics are cheap, and adds
// them to the counters in device memory once at the end.
//
//   metalloid run examples/kernels/histogram.metal --kernel histogram --threads 4096 --group 256
//       --arg counts=u32[256]=zeros --arg values=u8[100000]=uniform --arg length=u32:100000
#include <metal_stdlib>
using namespace metal;

constant constexpr uint bins = 256;

kernel void histogram(device atomic_uint* counts [[buffer(0)]],
                      device const uchar* values [[buffer(1)]],
                      constant uint& length [[buffer(2)]],
                      uint position [[thread_position_in_grid]],
                      uint grid_size [[threads_per_grid]],
                      uint thread_index [[thread_index_in_threadgroup]],
                      uint threads [[threads_per_threadgroup]]) {
  threadgroup atomic_uint local_counts[bins];
  for (uint bin = thread_index; bin < bins; bin += threads) {
    atomic_store_explicit(&local_counts[bin], 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint i = position; i < length; i += grid_size) {
    atomic_fetch_add_explicit(&local_counts[values[i]], 1u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint bin = thread_index; bin < bins; bin += threads) {
    const uint count = atomic_load_explicit(&local_counts[bin], memory_order_relaxed);
    if (count > 0) {
      atomic_fetch_add_explicit(&counts[bin], count, memory_order_relaxed);
    }
  }
}
