// C = A * B for row-major matrices of any size, tile by tile.
//
// A threadgroup of 16 x 16 threads computes one 16 x 16 tile of C. It walks along the inner dimension: every
// thread brings one element of A and one of B into threadgroup memory, and then all 256 use all 512 of them.
// The two barriers keep "all written" before "any read", and "all read" before "any overwritten".
//
//   metalloid run examples/kernels/tiled_matmul.metal --kernel tiled_matmul --threadgroups 5,7 --group 16,16
//       --arg c=f32[100,70]=zeros --arg a=f32[100,50]=normal --arg b=f32[50,70]=normal
//       --arg size=u8[12]=100,0,0,0,70,0,0,0,50,0,0,0
#include <metal_stdlib>
using namespace metal;

constant constexpr uint tile = 16;

struct MatrixSize {
  uint rows;     // of A and C
  uint columns;  // of B and C
  uint inner;    // columns of A, rows of B
};

kernel void tiled_matmul(device float* c [[buffer(0)]],
                         device const float* a [[buffer(1)]],
                         device const float* b [[buffer(2)]],
                         constant MatrixSize& size [[buffer(3)]],
                         uint2 position [[thread_position_in_grid]],
                         uint2 local [[thread_position_in_threadgroup]]) {
  threadgroup float a_tile[tile][tile];
  threadgroup float b_tile[tile][tile];

  float sum = 0;
  for (uint start = 0; start < size.inner; start += tile) {
    const uint a_column = start + local.x;
    const uint b_row = start + local.y;
    const bool in_a = position.y < size.rows && a_column < size.inner;
    const bool in_b = b_row < size.inner && position.x < size.columns;
    a_tile[local.y][local.x] = in_a ? a[position.y * size.inner + a_column] : 0.0f;
    b_tile[local.y][local.x] = in_b ? b[b_row * size.columns + position.x] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < tile; ++k) {
      sum = fma(a_tile[local.y][k], b_tile[k][local.x], sum);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (position.y < size.rows && position.x < size.columns) {
    c[position.y * size.columns + position.x] = sum;
  }
}
