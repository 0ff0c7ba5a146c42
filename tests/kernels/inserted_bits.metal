// Bits of one number put into another by some lanes, while the first lies in memory across barriers.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel some_lanes --threads 14 --group 7 --arg out=i32[14]=zeros --arg in=i32[14]=arange --arg turns=2 --arg own=i32[14]=zeros
// EXPECT out: 0 1 2 1 4 1 6 1 8 1 10 1 12 1
kernel void some_lanes(device int* out, device const int* in, constant int& turns, device int* own,
                       uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                       uint threads [[threads_per_threadgroup]]) {
  threadgroup uchar shared_bytes[1024];
  for (uint k = t; k < 1024; k += threads) shared_bytes[k] = uchar(k);
  int v0 = in[i], v1 = int(i);
  for (int k = 0; k < (turns & 3); ++k) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    shared_bytes[t ^ 1] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    v1 = shared_bytes[1];
    own[i] = 1;
  }
  if (i % 2 == 0) v1 = insert_bits(v1, v0, 0, 9);
  out[i] = v1;
}
