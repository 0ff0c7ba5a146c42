// C = A * B with simdgroup matrices, for float, half and bfloat, for matrices of any size.
//
// A threadgroup of four simdgroups computes one 32 x 32 tile of C; each simdgroup owns a 16 x 16 quarter as 2 x 2
// simdgroup matrices of 8 x 8, whose elements are spread over its lanes. Tiles of A and B pass through threadgroup
// memory, where all four simdgroups read them; what would lie outside of A or B is zero there, and adds nothing to the
// sums. Simdgroup matrices are stored whole, so a tile of C that does not fit into C passes through threadgroup memory,
// too. Half inputs are multiplied as they are and summed in float.
//
//   metalloid run examples/kernels/simdgroup_matmul.metal --kernel simdgroup_matmul_float
//       --threadgroups 3,2 --group 128 --arg c=f32[50,96]=zeros --arg a=f32[50,40]=normal --arg b=f32[40,96]=normal
//       --arg size=u8[12]=50,0,0,0,96,0,0,0,40,0,0,0
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

constant constexpr uint tile = 32;   // rows and columns of C per threadgroup
constant constexpr uint depth = 16;  // of the tiles of A and B
constant constexpr uint threads = 128;

struct MatrixSize {
  uint rows;     // of A and C
  uint columns;  // of B and C
  uint inner;    // columns of A, rows of B
};

template <typename T>
[[kernel, max_total_threads_per_threadgroup(threads)]] void simdgroup_matmul(
    device float* c [[buffer(0)]],
    device const T* a [[buffer(1)]],
    device const T* b [[buffer(2)]],
    constant MatrixSize& size [[buffer(3)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup T a_tile[tile * depth];
  threadgroup T b_tile[depth * tile];
  threadgroup float c_tile[tile * tile];
  const uint row = group.y * tile, column = group.x * tile;
  const uint row_in_tile = 16 * (simdgroup / 2), column_in_tile = 16 * (simdgroup % 2);

  simdgroup_matrix<float, 8, 8> sums[2][2];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
#pragma unroll
    for (uint j = 0; j < 2; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }

  for (uint start = 0; start < size.inner; start += depth) {
    for (uint i = thread_index; i < tile * depth; i += threads) {
      const uint a_row = row + i / depth, a_column = start + i % depth;
      const uint b_row = start + i / tile, b_column = column + i % tile;
      const bool in_a = a_row < size.rows && a_column < size.inner;
      const bool in_b = b_row < size.inner && b_column < size.columns;
      a_tile[i] = in_a ? a[a_row * size.inner + a_column] : T(0);
      b_tile[i] = in_b ? b[b_row * size.columns + b_column] : T(0);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint k = 0; k < depth; k += 8) {
      simdgroup_matrix<T, 8, 8> left[2], right[2];
#pragma unroll
      for (uint i = 0; i < 2; ++i) {
        simdgroup_load(left[i], a_tile, depth, ulong2(k, row_in_tile + 8 * i));
        simdgroup_load(right[i], b_tile, tile, ulong2(column_in_tile + 8 * i, k));
      }
#pragma unroll
      for (uint i = 0; i < 2; ++i) {
#pragma unroll
        for (uint j = 0; j < 2; ++j) simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  if (row + tile <= size.rows && column + tile <= size.columns) {  // the same in all threads
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
#pragma unroll
      for (uint j = 0; j < 2; ++j) {
        simdgroup_store(sums[i][j], c, size.columns,
                        ulong2(column + column_in_tile + 8 * j, row + row_in_tile + 8 * i));
      }
    }
    return;
  }
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
#pragma unroll
    for (uint j = 0; j < 2; ++j) {
      simdgroup_store(sums[i][j], c_tile, tile, ulong2(column_in_tile + 8 * j, row_in_tile + 8 * i));
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = thread_index; i < tile * tile; i += threads) {
    const uint c_row = row + i / tile, c_column = column + i % tile;
    if (c_row < size.rows && c_column < size.columns) {
      c[c_row * size.columns + c_column] = c_tile[i];
    }
  }
}

template [[host_name("simdgroup_matmul_float")]] [[kernel]] decltype(simdgroup_matmul<float>) simdgroup_matmul<float>;
template [[host_name("simdgroup_matmul_half")]] [[kernel]] decltype(simdgroup_matmul<half>) simdgroup_matmul<half>;
template [[host_name("simdgroup_matmul_bfloat")]] [[kernel]] decltype(simdgroup_matmul<bfloat>) simdgroup_matmul<bfloat>;
