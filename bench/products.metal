// The same product with simdgroup matrices and with tensor operations, for bench/product_bench.cpp. A simdgroup computes
// 32 x 32 elements of the result either way.
#include <metal_stdlib>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

// c = a * b (+ c), by `Simdgroups` simdgroups in a square (1 or 4). A transposed operand lies the other way round.
template <typename T, int Simdgroups, bool TransposeLeft, bool TransposeRight, bool Accumulate>
[[kernel]] void matrices(device const T* a, device const T* b, device float* c, constant uint& size,
                         uint2 group [[threadgroup_position_in_grid]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  constexpr uint across = Simdgroups == 4 ? 2 : 1;
  const uint row = (group.y * across + simdgroup / across) * 32, column = (group.x * across + simdgroup % across) * 32;
  simdgroup_matrix<float, 8, 8> sums[4][4];
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
#pragma unroll
    for (uint j = 0; j < 4; ++j) {
      if (Accumulate) {
        simdgroup_load(sums[i][j], c, size, ulong2(column + j * 8, row + i * 8));
      } else {
        sums[i][j] = make_filled_simdgroup_matrix<float, 8>(0.0f);
      }
    }
  }
  for (uint k = 0; k < size; k += 8) {
    simdgroup_matrix<T, 8, 8> left[4], right[4];
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      const ulong2 of_left = TransposeLeft ? ulong2(row + i * 8, k) : ulong2(k, row + i * 8);
      const ulong2 of_right = TransposeRight ? ulong2(k, column + i * 8) : ulong2(column + i * 8, k);
      simdgroup_load(left[i], a, size, of_left, TransposeLeft);
      simdgroup_load(right[i], b, size, of_right, TransposeRight);
    }
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
#pragma unroll
      for (uint j = 0; j < 4; ++j) simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
    }
  }
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
#pragma unroll
    for (uint j = 0; j < 4; ++j) simdgroup_store(sums[i][j], c, size, ulong2(column + j * 8, row + i * 8));
  }
}

template <typename T>
using Matrix = tensor<device T, dextents<int, 2>, tensor_handle>;

template <typename Scope>
struct tile {
  static constexpr constant int size = 32;
};
template <>
struct tile<execution_simdgroups<4>> {
  static constexpr constant int size = 64;
};

template <typename T, typename Scope, bool TransposeLeft, bool TransposeRight, bool Accumulate, bool Cooperative,
          bool Relaxed, typename D>
[[kernel]] void tensors(Matrix<T> a, Matrix<T> b, Matrix<D> c, uint2 group [[threadgroup_position_in_grid]]) {
  constexpr int size = tile<Scope>::size;
  constexpr auto mode =
      Accumulate ? matmul2d_descriptor::mode::multiply_accumulate : matmul2d_descriptor::mode::multiply;
  constexpr auto descriptor =
      matmul2d_descriptor(size, size, dynamic_length_v<int>, TransposeLeft, TransposeRight, Relaxed, mode);
  matmul2d<descriptor, Scope> operation;
  const int row = group.y * size, column = group.x * size;
  auto rows = TransposeLeft ? a.slice(row, 0) : a.slice(0, row);
  auto columns = TransposeRight ? b.slice(0, column) : b.slice(column, 0);
  auto target = c.slice(column, row);
  if constexpr (Cooperative) {
    auto result = operation.template get_destination_cooperative_tensor<decltype(rows), decltype(columns), D>();
    if (Accumulate) result.load(target);
    operation.run(rows, columns, result);
    result.store(target);
  } else {
    operation.run(rows, columns, target);
  }
}

// Steps of 16 along k, operands in registers.
template <typename T, bool TransposeLeft, bool TransposeRight, bool Relaxed>
[[kernel]] void registers(Matrix<T> a, Matrix<T> b, Matrix<float> c, uint2 group [[threadgroup_position_in_grid]]) {
  constexpr auto descriptor = matmul2d_descriptor(32, 32, 16, TransposeLeft, TransposeRight, Relaxed,
                                                  matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroup> operation;
  auto left = operation.template get_left_input_cooperative_tensor<T, T, float>();
  auto right = operation.template get_right_input_cooperative_tensor<T, T, float>();
  auto result = operation.template get_destination_cooperative_tensor<decltype(left), decltype(right), float>();
  const int row = group.y * 32, column = group.x * 32, k = a.get_extent(TransposeLeft ? 1 : 0);
  for (int at = 0; at < k; at += 16) {
    left.load(TransposeLeft ? a.slice(row, at) : a.slice(at, row));
    right.load(TransposeRight ? b.slice(at, column) : b.slice(column, at));
    operation.run(left, right, result);
  }
  result.store(c.slice(column, row));
}

#define MATRICES(name, ...) \
  template [[host_name(name)]] kernel decltype(matrices<__VA_ARGS__>) matrices<__VA_ARGS__>;
MATRICES("matrices_f32", float, 1, false, false, false)
MATRICES("matrices_f16", half, 1, false, false, false)
MATRICES("matrices_bf16", bfloat, 1, false, false, false)
MATRICES("matrices_f32_4", float, 4, false, false, false)
MATRICES("matrices_f16_4", half, 4, false, false, false)
MATRICES("matrices_f32_accumulate", float, 1, false, false, true)
MATRICES("matrices_f32_left", float, 1, true, false, false)
MATRICES("matrices_f32_right", float, 1, false, true, false)

#define TENSORS(name, ...) template [[host_name(name)]] kernel decltype(tensors<__VA_ARGS__>) tensors<__VA_ARGS__>;
TENSORS("tensors_f32", float, execution_simdgroup, false, false, false, false, false, float)
TENSORS("tensors_f16", half, execution_simdgroup, false, false, false, false, false, float)
TENSORS("tensors_bf16", bfloat, execution_simdgroup, false, false, false, false, false, float)
TENSORS("tensors_i8", char, execution_simdgroup, false, false, false, false, false, int)
TENSORS("tensors_f32_4", float, execution_simdgroups<4>, false, false, false, false, false, float)
TENSORS("tensors_f16_4", half, execution_simdgroups<4>, false, false, false, false, false, float)
TENSORS("tensors_f32_thread", float, execution_thread, false, false, false, false, false, float)
TENSORS("tensors_f32_accumulate", float, execution_simdgroup, false, false, true, false, false, float)
TENSORS("tensors_f32_left", float, execution_simdgroup, true, false, false, false, false, float)
TENSORS("tensors_f32_right", float, execution_simdgroup, false, true, false, false, false, float)
TENSORS("tensors_f32_cooperative", float, execution_simdgroup, false, false, false, true, false, float)
TENSORS("tensors_f16_cooperative_4", half, execution_simdgroups<4>, false, false, false, true, false, float)
TENSORS("tensors_f32_cooperative_accumulate", float, execution_simdgroup, false, false, true, true, false, float)
TENSORS("tensors_f32_relaxed", float, execution_simdgroup, false, false, false, true, true, float)

#define REGISTERS(name, ...) \
  template [[host_name(name)]] kernel decltype(registers<__VA_ARGS__>) registers<__VA_ARGS__>;
REGISTERS("registers_f32", float, false, false, false)
REGISTERS("registers_f16", half, false, false, false)
REGISTERS("registers_f32_relaxed", float, false, false, true)
REGISTERS("registers_f16_relaxed", half, false, false, true)
REGISTERS("registers_f32_left", float, true, false, false)
REGISTERS("registers_f32_right", float, false, true, false)
