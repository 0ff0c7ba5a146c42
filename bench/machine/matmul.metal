// C = A * B for float matrices of n x n, n a multiple of 128. A simdgroup computes 32 x 64 elements as 4 x 8 simdgroup
// matrices, whose operands come straight out of device memory: caches do here what threadgroup memory does on a GPU.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

constant constexpr uint rows = 4, columns = 8;  // simdgroup matrices of a simdgroup; a threadgroup has 2 x 2 simdgroups

kernel void matmul(device float* c, device const float* a, device const float* b, constant uint& n,
                   uint2 group [[threadgroup_position_in_grid]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  const uint row = group.y * 16 * rows + simdgroup / 2 * 8 * rows;
  const uint column = group.x * 16 * columns + simdgroup % 2 * 8 * columns;
  simdgroup_float8x8 sums[rows][columns];
  for (uint i = 0; i < rows; ++i) {
    for (uint j = 0; j < columns; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  for (uint k = 0; k < n; k += 8) {
    simdgroup_float8x8 left[rows], right[columns];
    for (uint i = 0; i < rows; ++i) simdgroup_load(left[i], a + (row + 8 * i) * n + k, n);
    for (uint j = 0; j < columns; ++j) simdgroup_load(right[j], b + k * n + column + 8 * j, n);
    for (uint i = 0; i < rows; ++i) {
      for (uint j = 0; j < columns; ++j) simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
    }
  }
  for (uint i = 0; i < rows; ++i) {
    for (uint j = 0; j < columns; ++j) simdgroup_store(sums[i][j], c + (row + 8 * i) * n + column + 8 * j, n);
  }
}
