// C = A * B, square, through 16 x 16 tiles in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

kernel void matmul_tiled(device float* c, device const float* a, device const float* b, constant uint& size,
                         uint2 position [[thread_position_in_grid]],
                         uint2 local [[thread_position_in_threadgroup]]) {
  threadgroup float a_tile[16][16];
  threadgroup float b_tile[16][16];
  float sum = 0;
  for (uint start = 0; start < size; start += 16) {
    a_tile[local.y][local.x] = a[position.y * size + start + local.x];
    b_tile[local.y][local.x] = b[(start + local.y) * size + position.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 16; ++k) sum += a_tile[local.y][k] * b_tile[k][local.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[position.y * size + position.x] = sum;
}
