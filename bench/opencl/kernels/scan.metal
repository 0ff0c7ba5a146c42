// Sums of all elements of a threadgroup's 256 up to each: every step adds what lies twice as far away.
#include <metal_stdlib>
using namespace metal;

kernel void scan(device uint* out, device uint* totals, device const uint* in, uint i [[thread_position_in_grid]],
                 uint group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup uint scratch[256];
  uint sum = in[i];
  scratch[thread_index] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint distance = 1; distance < 256; distance *= 2) {
    const uint other = thread_index >= distance ? scratch[thread_index - distance] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += other;
    scratch[thread_index] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = sum;
  if (thread_index == 255) totals[group] = sum;
}
