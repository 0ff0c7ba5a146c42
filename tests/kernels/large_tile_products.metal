// matmul2d by all simdgroups of a threadgroup, large enough for engines that pass tiles through memory of their own:
// every transposition, destinations in memory and in registers, tensors that end inside a tile, rows that are not
// aligned, and more of k in the tensors than the product takes; of floats, too. Sums are exact in any order.
// COMPILE: -std=metal4.0
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include <metal_stdlib>
using namespace metal;
using namespace mpp::tensor_ops;

float left_at(int row, int column) { return (row * 7 + column * 3) % 5 - 2; }
float right_at(int row, int column) { return (row * 5 + column * 2 + row * column) % 7 - 3; }
float start_at(int row, int column) { return (row + column * 3) % 16; }

template <typename T>
using Memory = tensor<device T, dextents<int, 2>, tensor_inline>;

// The sizes of a product, and what tensors lack of its rows and columns (`short_*`) and have between rows (`pad`).
template <int rows, int columns, int depth, int short_rows, int short_columns, int pad>
struct Sizes {
  static constexpr constant int m = rows, n = columns, k = depth;
  static constexpr constant int tensor_m = rows - short_rows, tensor_n = columns - short_columns, padding = pad;
};

template <bool TransposeLeft, bool TransposeRight, typename S, typename T>
struct Operands {
  // Both have 9 more of k than the product.
  static constexpr constant int k = S::k + 9;
  static constexpr constant int left_rows = TransposeLeft ? k : S::tensor_m;
  static constexpr constant int left_columns = TransposeLeft ? S::tensor_m : k;
  static constexpr constant int right_rows = TransposeRight ? S::tensor_n : k;
  static constexpr constant int right_columns = TransposeRight ? k : S::tensor_n;
  static constexpr constant int left_stride = left_columns + S::padding, right_stride = right_columns + S::padding;

  Operands(device T* a, device T* b, int thread_index, int threads)
      : left(a, dextents<int, 2>(left_columns, left_rows), array<int, 2>({1, left_stride})),
        right(b, dextents<int, 2>(right_columns, right_rows), array<int, 2>({1, right_stride})) {
    for (int i = thread_index; i < left_rows * left_columns; i += threads) {
      const int row = i / left_columns, column = i % left_columns;
      a[row * left_stride + column] = T(TransposeLeft ? left_at(column, row) : left_at(row, column));
    }
    for (int i = thread_index; i < right_rows * right_columns; i += threads) {
      const int row = i / right_columns, column = i % right_columns;
      b[row * right_stride + column] = T(TransposeRight ? right_at(column, row) : right_at(row, column));
    }
  }
  Memory<T> left, right;
};

template <typename S>
float expected_at(int row, int column, bool accumulates) {
  float sum = accumulates ? start_at(row, column) : 0;
  for (int j = 0; j < S::k; ++j) {
    sum += (row < S::tensor_m ? left_at(row, j) : 0) * (column < S::tensor_n ? right_at(j, column) : 0);
  }
  return sum;
}

template <bool TransposeLeft, bool TransposeRight, bool Accumulates, typename S, int Simdgroups, typename T, typename D>
[[kernel]] void memory(device T* a, device T* b, device D* c, device atomic_uint* wrong,
                       uint thread_index [[thread_index_in_threadgroup]]) {
  constexpr int threads = Simdgroups * 32, stride = S::n + S::padding;
  Operands<TransposeLeft, TransposeRight, S, T> operands(a, b, thread_index, threads);
  for (int i = thread_index; i < S::m * stride; i += threads) c[i] = D(start_at(i / stride, i % stride));
  threadgroup_barrier(mem_flags::mem_device);
  constexpr auto mode = Accumulates ? matmul2d_descriptor::mode::multiply_accumulate : matmul2d_descriptor::mode::multiply;
  constexpr auto descriptor = matmul2d_descriptor(S::m, S::n, S::k, TransposeLeft, TransposeRight, false, mode);
  matmul2d<descriptor, execution_simdgroups<Simdgroups>> operation;
  Memory<D> result(c, dextents<int, 2>(S::tensor_n, S::tensor_m), array<int, 2>({1, stride}));
  operation.run(operands.left, operands.right, result);
  threadgroup_barrier(mem_flags::mem_device);
  for (int i = thread_index; i < S::m * stride; i += threads) {
    const int row = i / stride, column = i % stride;
    const bool is_inside = row < S::tensor_m && column < S::tensor_n;
    const float expected = is_inside ? expected_at<S>(row, column, Accumulates) : start_at(row, column);
    if (c[i] != D(expected)) atomic_fetch_add_explicit(wrong, 1u, memory_order_relaxed);
    atomic_fetch_add_explicit(wrong + 1, is_inside ? 1u : 0u, memory_order_relaxed);
  }
}
using Whole = Sizes<64, 64, 128, 0, 0, 7>;  // and 9 of k: rows of any alignment
using Aligned = Sizes<128, 64, 71, 0, 0, 0>;
using Ending = Sizes<64, 96, 70, 5, 13, 0>;
using Wide = Sizes<128, 256, 55, 0, 0, 0>;
#define MEMORY(name, ...) template [[host_name(name)]] kernel decltype(memory<__VA_ARGS__>) memory<__VA_ARGS__>;
MEMORY("whole", false, false, false, Whole, 4, half, half)
MEMORY("aligned", false, false, false, Aligned, 4, half, float)
MEMORY("left_transposed", true, false, false, Aligned, 4, half, float)
MEMORY("right_transposed", false, true, false, Aligned, 4, bfloat, float)
MEMORY("both_transposed", true, true, true, Aligned, 4, bfloat, bfloat)
MEMORY("ending", false, false, true, Ending, 4, half, float)
MEMORY("ending_transposed", true, true, false, Ending, 8, half, half)
MEMORY("wide", false, false, true, Wide, 8, bfloat, float)
MEMORY("whole_floats", false, false, false, Whole, 4, float, float)
MEMORY("left_transposed_floats", true, false, true, Aligned, 4, float, float)
MEMORY("right_transposed_floats", false, true, false, Aligned, 4, float, float)
MEMORY("ending_floats", true, true, true, Ending, 8, float, float)
MEMORY("wide_floats", false, false, true, Wide, 8, float, float)
// RUN: --kernel whole --threads 128 --group 128 --arg a=f16[20000]=zeros --arg b=f16[20000]=zeros --arg c=f16[5000]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 4096
// RUN: --kernel aligned --threads 128 --group 128 --arg a=f16[20000]=zeros --arg b=f16[20000]=zeros --arg c=f32[8192]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 8192
// RUN: --kernel left_transposed --threads 128 --group 128 --arg a=f16[20000]=zeros --arg b=f16[20000]=zeros --arg c=f32[8192]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 8192
// RUN: --kernel right_transposed --threads 128 --group 128 --arg a=bf16[20000]=zeros --arg b=bf16[20000]=zeros --arg c=f32[8192]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 8192
// RUN: --kernel both_transposed --threads 128 --group 128 --arg a=bf16[20000]=zeros --arg b=bf16[20000]=zeros --arg c=bf16[8192]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 8192
// RUN: --kernel ending --threads 128 --group 128 --arg a=f16[20000]=zeros --arg b=f16[20000]=zeros --arg c=f32[6144]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 4897
// RUN: --kernel ending_transposed --threads 256 --group 256 --arg a=f16[20000]=zeros --arg b=f16[20000]=zeros --arg c=f16[6144]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 4897
// RUN: --kernel wide --threads 256 --group 256 --arg a=bf16[20000]=zeros --arg b=bf16[20000]=zeros --arg c=f32[32768]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 32768
// RUN: --kernel whole_floats --threads 128 --group 128 --arg a=f32[20000]=zeros --arg b=f32[20000]=zeros --arg c=f32[5000]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 4096
// RUN: --kernel left_transposed_floats --threads 128 --group 128 --arg a=f32[20000]=zeros --arg b=f32[20000]=zeros --arg c=f32[8192]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 8192
// RUN: --kernel right_transposed_floats --threads 128 --group 128 --arg a=f32[20000]=zeros --arg b=f32[20000]=zeros --arg c=f32[8192]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 8192
// RUN: --kernel ending_floats --threads 256 --group 256 --arg a=f32[20000]=zeros --arg b=f32[20000]=zeros --arg c=f32[6144]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 4897
// RUN: --kernel wide_floats --threads 256 --group 256 --arg a=f32[20000]=zeros --arg b=f32[20000]=zeros --arg c=f32[32768]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 32768

// Fragments of 16 are those of relaxed precision.
template <bool TransposeLeft, bool TransposeRight, bool Relaxed, typename S, int Simdgroups, typename T, typename D>
[[kernel]] void held(device T* a, device T* b, device atomic_uint* wrong,
                     uint thread_index [[thread_index_in_threadgroup]]) {
  Operands<TransposeLeft, TransposeRight, S, T> operands(a, b, thread_index, Simdgroups * 32);
  threadgroup_barrier(mem_flags::mem_device);
  constexpr auto descriptor = matmul2d_descriptor(S::m, S::n, S::k, TransposeLeft, TransposeRight, Relaxed,
                                                  matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroups<Simdgroups>> operation;
  auto result = operation.template get_destination_cooperative_tensor<Memory<T>, Memory<T>, D>();
#pragma unroll
  for (int i = 0; i < result.get_capacity(); ++i) {
    auto at = result.get_multidimensional_index(i);
    result[i] = D(start_at(at[1], at[0]));
  }
  operation.run(operands.left, operands.right, result);
#pragma unroll
  for (int i = 0; i < result.get_capacity(); ++i) {
    if (!result.is_valid_element(i)) continue;
    auto at = result.get_multidimensional_index(i);
    if (result[i] != D(expected_at<S>(at[1], at[0], true))) atomic_fetch_add_explicit(wrong, 1u, memory_order_relaxed);
    atomic_fetch_add_explicit(wrong + 1, 1u, memory_order_relaxed);
  }
}
#define HELD(name, ...) template [[host_name(name)]] kernel decltype(held<__VA_ARGS__>) held<__VA_ARGS__>;
HELD("held", false, false, false, Aligned, 4, half, float)
HELD("held_relaxed", false, true, true, Aligned, 4, half, float)
HELD("held_ending", true, false, false, Ending, 4, bfloat, float)
HELD("held_ending_relaxed", false, false, true, Ending, 8, bfloat, half)
HELD("held_floats", false, false, false, Aligned, 4, float, float)
HELD("held_ending_floats", true, true, false, Ending, 8, float, float)
// RUN: --kernel held --threads 128 --group 128 --arg a=f16[20000]=zeros --arg b=f16[20000]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 8192
// RUN: --kernel held_relaxed --threads 128 --group 128 --arg a=f16[20000]=zeros --arg b=f16[20000]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 8192
// RUN: --kernel held_ending --threads 128 --group 128 --arg a=bf16[20000]=zeros --arg b=bf16[20000]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 6144
// RUN: --kernel held_ending_relaxed --threads 256 --group 256 --arg a=bf16[20000]=zeros --arg b=bf16[20000]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 6144
// RUN: --kernel held_floats --threads 128 --group 128 --arg a=f32[20000]=zeros --arg b=f32[20000]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 8192
// RUN: --kernel held_ending_floats --threads 256 --group 256 --arg a=f32[20000]=zeros --arg b=f32[20000]=zeros --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 6144
