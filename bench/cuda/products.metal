// C = A * B, row after row, with sums in float, as authors of Metal kernels write it.
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

// A threadgroup has `rows` x `columns` elements of C, divided among `down` x `across` simdgroups. Tiles of A and B,
// `depth` deep, pass through threadgroup memory, whose rows are 16 bytes longer than the tiles' for the sake of its
// banks.
template <typename T, typename D, int rows, int columns, int depth, int down, int across>
[[kernel, max_total_threads_per_threadgroup(32 * down * across)]] void matrices(
    device const T* a [[buffer(0)]], device const T* b [[buffer(1)]], device D* c [[buffer(2)]],
    constant uint& n [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  using Piece = uint4;
  constexpr int threads = 32 * down * across, pad = 16 / sizeof(T), piece = sizeof(Piece) / sizeof(T);
  constexpr int a_row = depth + pad, b_row = columns + pad;
  constexpr int fragments_down = rows / down / 8, fragments_across = columns / across / 8;
  threadgroup T a_tile[rows * a_row], b_tile[depth * b_row];
  simdgroup_matrix<float, 8, 8> sums[fragments_down][fragments_across];
#pragma unroll
  for (int i = 0; i < fragments_down; ++i) {
#pragma unroll
    for (int j = 0; j < fragments_across; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  const uint row = group.y * rows, column = group.x * columns;
  const int own_row = simdgroup / across * (rows / down), own_column = simdgroup % across * (columns / across);
  for (uint start = 0; start < n; start += depth) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (int i = 0; i < rows * depth / piece; i += threads) {
      const int at = i + thread_index, y = at / (depth / piece), x = at % (depth / piece) * piece;
      *(threadgroup Piece*)(a_tile + y * a_row + x) = *(device const Piece*)(a + (row + y) * n + start + x);
    }
#pragma unroll
    for (int i = 0; i < depth * columns / piece; i += threads) {
      const int at = i + thread_index, y = at / (columns / piece), x = at % (columns / piece) * piece;
      *(threadgroup Piece*)(b_tile + y * b_row + x) = *(device const Piece*)(b + (start + y) * n + column + x);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (int k = 0; k < depth; k += 8) {
      simdgroup_matrix<T, 8, 8> left[fragments_down], right[fragments_across];
#pragma unroll
      for (int i = 0; i < fragments_down; ++i) simdgroup_load(left[i], a_tile + (own_row + 8 * i) * a_row + k, a_row);
#pragma unroll
      for (int j = 0; j < fragments_across; ++j) {
        simdgroup_load(right[j], b_tile + k * b_row + own_column + 8 * j, b_row);
      }
#pragma unroll
      for (int i = 0; i < fragments_down; ++i) {
#pragma unroll
        for (int j = 0; j < fragments_across; ++j) {
          simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < fragments_down; ++i) {
#pragma unroll
    for (int j = 0; j < fragments_across; ++j) {
      simdgroup_matrix<D, 8, 8> result;
      result.thread_elements()[0] = D(sums[i][j].thread_elements()[0]);
      result.thread_elements()[1] = D(sums[i][j].thread_elements()[1]);
      simdgroup_store(result, c + (row + own_row + 8 * i) * n + column + own_column + 8 * j, n);
    }
  }
}
#define MATRICES(name, ...) \
  template [[host_name(name)]] kernel decltype(matrices<__VA_ARGS__>) matrices<__VA_ARGS__>;
MATRICES("matrices_half_64x64", half, half, 64, 64, 32, 2, 2)
MATRICES("matrices_half_128x128", half, half, 128, 128, 32, 2, 2)
MATRICES("matrices_half_128x128_8", half, half, 128, 128, 32, 2, 4)
MATRICES("matrices_half_256x128_8", half, half, 256, 128, 32, 4, 2)
MATRICES("matrices_half_128x64", half, half, 128, 64, 32, 2, 2)
MATRICES("matrices_bfloat_128x128", bfloat, bfloat, 128, 128, 32, 2, 2)
MATRICES("matrices_float_64x64", float, float, 64, 64, 16, 2, 2)
MATRICES("matrices_float_128x64", float, float, 128, 64, 16, 2, 2)
MATRICES("matrices_float_128x128", float, float, 128, 128, 16, 2, 2)

using namespace mpp::tensor_ops;

template <typename T>
using Matrix = tensor<device T, dextents<int, 2>>;

// Metal 4's tensor operations: `simdgroups` compute `rows` x `columns` elements.
template <typename T, typename D, int rows, int columns, int simdgroups>
[[kernel]] void tensors(Matrix<T> a [[buffer(0)]], Matrix<T> b [[buffer(1)]], Matrix<D> c [[buffer(2)]],
                        uint2 group [[threadgroup_position_in_grid]]) {
  constexpr auto descriptor = matmul2d_descriptor(rows, columns, dynamic_length_v<int>);
  matmul2d<descriptor, execution_simdgroups<simdgroups>> operation;
  auto left = a.slice(0, int(group.y) * rows);
  auto right = b.slice(int(group.x) * columns, 0);
  auto target = c.slice(int(group.x) * columns, int(group.y) * rows);
  operation.run(left, right, target);
}
#define TENSORS(name, ...) template [[host_name(name)]] kernel decltype(tensors<__VA_ARGS__>) tensors<__VA_ARGS__>;
TENSORS("tensors_half_64x32", half, half, 64, 32, 4)
TENSORS("tensors_half_128x128", half, half, 128, 128, 4)
TENSORS("tensors_bfloat_128x128", bfloat, bfloat, 128, 128, 4)
TENSORS("tensors_half_128x256", half, half, 128, 256, 8)
TENSORS("tensors_bfloat_128x256", bfloat, bfloat, 128, 256, 8)
TENSORS("tensors_float_128x128", float, float, 128, 128, 4)

// The same by way of a cooperative tensor, as kernels that go on with the result have it.
template <typename T, int rows, int columns, int simdgroups>
[[kernel]] void cooperative(Matrix<T> a [[buffer(0)]], Matrix<T> b [[buffer(1)]], Matrix<T> c [[buffer(2)]],
                            uint2 group [[threadgroup_position_in_grid]]) {
  constexpr auto descriptor = matmul2d_descriptor(rows, columns, dynamic_length_v<int>);
  matmul2d<descriptor, execution_simdgroups<simdgroups>> operation;
  auto left = a.slice(0, int(group.y) * rows);
  auto right = b.slice(int(group.x) * columns, 0);
  auto target = c.slice(int(group.x) * columns, int(group.y) * rows);
  auto sums = operation.template get_destination_cooperative_tensor<decltype(left), decltype(right), float>();
  operation.run(left, right, sums);
  sums.store(target);
}
template [[host_name("cooperative_half_128x256")]] kernel decltype(cooperative<half, 128, 256, 8>)
    cooperative<half, 128, 256, 8>;
