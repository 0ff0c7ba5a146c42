// Nothing is wrong here: tiles with both barriers, a tree of sums, an atomic count.
#include <metal_stdlib>
using namespace metal;

kernel void correct_tiles(device const uint* x, device uint* out, device atomic_uint* total,
                          uint i [[thread_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup uint t[64];
  uint sum = 0;
  for (uint start = 0; start < 128; start += 64) {
    t[thread_index] = x[start + thread_index];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 64; ++k) sum += t[k];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  t[thread_index] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 32; step > 0; step /= 2) {
    if (thread_index < step) t[thread_index] += t[thread_index + step];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = t[0];
  atomic_fetch_add_explicit(total, t[0], memory_order_relaxed);
}
