// Double buffering with one barrier in each turn: between a read and the next write to the same buffer lies one
// barrier.
// CHECK: --threads 64 --group 64 --arg x=f32[512]=uniform --arg out=f32[64]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void tiles(device const float* x, device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float tile[2][64];
  float sum = 0;
  for (uint k = 0; k < 8; ++k) {
    tile[k % 2][i] = x[k * 64 + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[k % 2][63 - i];
  }
  out[i] = sum;
}
