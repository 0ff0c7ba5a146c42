// Of a square matrix, through 16 x 16 tiles in threadgroup memory, whose rows are one longer so that columns of it lie
// in different banks of a GPU.
#include <metal_stdlib>
using namespace metal;

kernel void transpose(device float* out, device const float* in, constant uint& size,
                      uint2 group [[threadgroup_position_in_grid]], uint2 local [[thread_position_in_threadgroup]]) {
  threadgroup float tile[16][17];
  tile[local.y][local.x] = in[(group.y * 16 + local.y) * size + group.x * 16 + local.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[(group.x * 16 + local.y) * size + group.y * 16 + local.x] = tile[local.x][local.y];
}
