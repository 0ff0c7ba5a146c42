// The sum of each 2048 elements: eight per thread, then a tree in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

kernel void reduce_tree(device float* sums, device const float* in, uint group [[threadgroup_position_in_grid]],
                        uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup float scratch[256];
  float sum = 0;
  for (uint i = 0; i < 8; ++i) sum += in[group * 2048 + i * 256 + thread_index];
  scratch[thread_index] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 128; stride > 0; stride /= 2) {
    if (thread_index < stride) scratch[thread_index] += scratch[thread_index + stride];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (thread_index == 0) sums[group] = scratch[0];
}
