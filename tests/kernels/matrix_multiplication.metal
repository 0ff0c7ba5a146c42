// mpp::tensor_ops::matmul2d and cooperative tensors: every scope, kind of operand, layout and transposition. Elements are
// small integers, so sums are exact in any order.
// COMPILE: -std=metal4.0
#include <metal_stdlib>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

template <typename T>
using Matrix = tensor<device T, dextents<int, 2>, tensor_handle>;

// Tensors that end inside a tile: nothing outside them counts or is written.
template <typename Scope, typename T, typename D>
[[kernel]] void product(Matrix<T> a, Matrix<T> b, Matrix<D> c, uint2 group [[threadgroup_position_in_grid]]) {
  constexpr auto descriptor = matmul2d_descriptor(2, 2, 0);
  matmul2d<descriptor, Scope> operation;
  auto rows = a.slice(0, group.y * 2);
  auto columns = b.slice(group.x * 2, 0);
  operation.run(rows, columns, c.slice(group.x * 2, group.y * 2));
}
template [[host_name("by_thread")]] kernel decltype(product<execution_thread, half, float>)
    product<execution_thread, half, float>;
template [[host_name("by_simdgroup")]] kernel decltype(product<execution_simdgroup, float, half>)
    product<execution_simdgroup, float, half>;
template [[host_name("by_three_simdgroups")]] kernel decltype(product<execution_simdgroups<3>, char, int>)
    product<execution_simdgroups<3>, char, int>;
// RUN: --kernel by_thread --threadgroups 2,2 --group 1 --arg a=f16[3,2]=1,2,3,4,5,6 --arg b=f16[2,3]=1,0,2,-1,1,0 --arg c=f32[3,3]=zeros
// EXPECT c: -1 2 2 -1 4 6 -1 6 10
// RUN: --kernel by_simdgroup --threadgroups 2,2 --group 32 --arg a=f32[3,2]=1,2,3,4,5,6 --arg b=f32[2,3]=1,0,2,-1,1,0 --arg c=f16[3,3]=zeros
// EXPECT c: -1 2 2 -1 4 6 -1 6 10
// RUN: --kernel by_three_simdgroups --threadgroups 2,2 --group 96 --arg a=i8[3,2]=1,2,3,4,5,6 --arg b=i8[2,3]=1,0,2,-1,1,0 --arg c=i32[3,3]=zeros
// EXPECT c: -1 2 2 -1 4 6 -1 6 10

// What an element of a test matrix is.
float left_at(int row, int column) { return (row * 7 + column * 3) % 11 - 5; }
float right_at(int row, int column) { return (row * 5 + column * 2) % 13 - 6; }

// Adds up where kernel and definition differ.
template <typename Cooperative>
void check(thread Cooperative& result, int k, device atomic_uint* wrong) {
  for (int i = 0; i < result.get_capacity(); ++i) {
    if (!result.is_valid_element(i)) continue;
    auto at = result.get_multidimensional_index(i);
    float expected = 100 * at[1] + at[0];
    for (int j = 0; j < k; ++j) expected += left_at(at[1], j) * right_at(j, at[0]);
    if (float(result[i]) != expected) atomic_fetch_add_explicit(wrong, 1u, memory_order_relaxed);
    atomic_fetch_add_explicit(wrong + 1, 1u, memory_order_relaxed);
  }
}

// Operands in registers, accumulated onto a destination in registers.
template <bool TransposeLeft, bool TransposeRight, bool Relaxed, typename T>
[[kernel]] void registers(device atomic_uint* wrong) {
  constexpr auto descriptor = matmul2d_descriptor(16, 32, 16, TransposeLeft, TransposeRight, Relaxed,
                                                  matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroup> operation;
  auto left = operation.template get_left_input_cooperative_tensor<T, T, float>();
  auto right = operation.template get_right_input_cooperative_tensor<T, T, float>();
  auto result = operation.template get_destination_cooperative_tensor<decltype(left), decltype(right), float>();
  for (int i = 0; i < left.get_capacity(); ++i) {
    auto at = left.get_multidimensional_index(i);
    left[i] = T(TransposeLeft ? left_at(at[0], at[1]) : left_at(at[1], at[0]));
  }
  for (int i = 0; i < right.get_capacity(); ++i) {
    auto at = right.get_multidimensional_index(i);
    right[i] = T(TransposeRight ? right_at(at[0], at[1]) : right_at(at[1], at[0]));
  }
  for (int i = 0; i < result.get_capacity(); ++i) {
    auto at = result.get_multidimensional_index(i);
    result[i] = 100 * at[1] + at[0];
  }
  operation.run(left, right, result);
  check(result, 16, wrong);
}
#define REGISTERS(name, ...) \
  template [[host_name(name)]] kernel decltype(registers<__VA_ARGS__>) registers<__VA_ARGS__>;
REGISTERS("registers", false, false, false, half)
REGISTERS("registers_relaxed", false, false, true, float)
REGISTERS("registers_left", true, false, false, bfloat)
REGISTERS("registers_left_relaxed", true, false, true, half)
REGISTERS("registers_right", false, true, false, half)
REGISTERS("registers_right_relaxed", false, true, true, char)
REGISTERS("registers_both_relaxed", true, true, true, half)
// RUN: --kernel registers --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 512
// RUN: --kernel registers_relaxed --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 512
// RUN: --kernel registers_left --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 512
// RUN: --kernel registers_left_relaxed --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 512
// RUN: --kernel registers_right --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 512
// RUN: --kernel registers_right_relaxed --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 512
// RUN: --kernel registers_both_relaxed --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 512

// Two simdgroups, operands in threadgroup memory, k in steps, sizes that no tile divides.
kernel void steps(device atomic_uint* wrong, uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup half left[12 * 8], right[8 * 20];
  constexpr auto descriptor =
      matmul2d_descriptor(12, 20, 8, false, false, false, matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroups<2>> operation;
  auto a = tensor(left, dextents<int, 2>(8, 12));
  auto b = tensor<threadgroup half, dextents<int, 2>, tensor_inline>(right, dextents<int, 2>(20, 8));
  auto result = operation.get_destination_cooperative_tensor<decltype(a), decltype(b), float>();
  for (int i = 0; i < result.get_capacity(); ++i) {
    auto at = result.get_multidimensional_index(i);
    if (result.is_valid_element(i)) result[i] = 100 * at[1] + at[0];
  }
  for (int step = 0; step < 3; ++step) {
    for (int i = thread_index; i < 12 * 8; i += 64) left[i] = left_at(i / 8, step * 8 + i % 8);
    for (int i = thread_index; i < 8 * 20; i += 64) right[i] = right_at(step * 8 + i / 20, i % 20);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    operation.run(a, b, result);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  check(result, 24, wrong);
}
// RUN: --kernel steps --threads 64 --group 64 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 240

// One operand in registers, the other in memory and transposed there; multiply writes over what was there.
kernel void mixed(Matrix<float> right, Matrix<float> result) {
  constexpr auto descriptor = matmul2d_descriptor(8, 8, 8, false, true);
  matmul2d<descriptor, execution_simdgroup> operation;
  auto left = operation.get_left_input_cooperative_tensor<float, float, float>();
  for (int i = 0; i < left.get_capacity(); ++i) {
    auto at = left.get_multidimensional_index(i);
    left[i] = at[0] == at[1] ? 2 : 0;
  }
  operation.run(left, right, result);
}
// RUN: --kernel mixed --threads 32 --group 32 --arg right=f32[2,3]=1,2,3,4,5,6 --arg result=f32[3,2]=ones
// EXPECT result: 2 8 4 10 6 12

// The fragments that kernels for Apple's GPUs assume: lane and element to (row, column).
template <bool Relaxed>
[[kernel]] void fragments(device int2* at, uint lane [[thread_index_in_simdgroup]]) {
  constexpr auto descriptor = matmul2d_descriptor(16, 32, 16, false, false, Relaxed);
  matmul2d<descriptor, execution_simdgroup> operation;
  auto result = operation.template get_destination_cooperative_tensor<half, half, float>();
  const uint asked[] = {0, 1, 5, 22, 31};
  const int elements[] = {0, 1, 4, 10, 15};
  for (int i = 0; i < 5; ++i) {
    auto index = result.get_multidimensional_index(elements[i]);
    if (lane == asked[i]) at[i] = int2(index[1], index[0]);
  }
}
template [[host_name("fragments_relaxed")]] kernel decltype(fragments<true>) fragments<true>;
template [[host_name("fragments")]] kernel decltype(fragments<false>) fragments<false>;
// RUN: --kernel fragments_relaxed --threads 32 --group 32 --arg at=i32[10]=zeros
// EXPECT at: 0 0 0 5 10 4 7 18 15 31
// RUN: --kernel fragments --threads 32 --group 32 --arg at=i32[10]=zeros
// EXPECT at: 0 0 0 3 2 18 15 8 15 31

// Weights of 4 bits.
kernel void by_half_bytes(Matrix<half> a, device uchar* bytes, Matrix<float> c) {
  tensor<device int4b_format, dextents<int, 2>, tensor_inline> b(bytes, dextents<int, 2>(3, 2));
  matmul2d<matmul2d_descriptor(4, 4), execution_simdgroup> operation;
  operation.run(a, b, c);
}
// RUN: --kernel by_half_bytes --threads 32 --group 32 --arg a=f16[2,2]=1,2,3,4 --arg bytes=u8[3]=0x28,0xf7,0x19 --arg c=f32[2,3]=zeros
// EXPECT c: -10 -12 9 -28 -22 25

// Rows and columns of a product, reduced in registers: the element in column c and row r is 100 c + r.
template <typename Scope, bool Relaxed>
kernel void reductions(device float* y) {
  matmul2d<matmul2d_descriptor(20, 3, 8, false, false, Relaxed), Scope> operation;
  using T = Matrix<float>;
  auto matrix = operation.template get_destination_cooperative_tensor<T, T, float>();
  auto rows = operation.template get_row_reduction_destination_cooperative_tensor<T, T, float>();
  auto columns = operation.template get_column_reduction_destination_cooperative_tensor<T, T, float>();
  for (int i = 0; i < matrix.get_capacity(); ++i) {
    const auto at = matrix.get_multidimensional_index(i);
    matrix[i] = at[0] * 100 + at[1];
  }
  reduce_rows(matrix, rows, reduction_operation::max, -INFINITY);
  reduce_columns(matrix, columns, reduction_operation::sum, 1.0f);
  for (int i = 0; i < rows.get_capacity(); ++i) {
    if (rows.is_valid_element(i)) y[rows.get_multidimensional_index(i)[0]] = rows[i];
  }
  for (int i = 0; i < columns.get_capacity(); ++i) {
    if (columns.is_valid_element(i)) y[20 + columns.get_multidimensional_index(i)[0]] = columns[i];
  }
  bool right = is_iterator_compatible(matrix, rows) && is_iterator_compatible(matrix, columns);
  for (auto element = matrix.begin(); element != matrix.end(); ++element) *element -= *rows.map_iterator(element);
  for (int i = 0; i < matrix.get_capacity(); ++i) {
    const int column = matrix.get_multidimensional_index(i)[0];
    if (matrix.is_valid_element(i) && matrix[i] != (column - 2) * 100) right = false;
  }
  reduce_columns(matrix, columns, reduction_operation::min, 7.0f);
  for (int i = 0; i < columns.get_capacity(); ++i) {
    const int column = columns.get_multidimensional_index(i)[0];
    if (columns.is_valid_element(i) && columns[i] != min((column - 2) * 100.0f, 7.0f)) right = false;
  }
  if (!right) y[23] = 1;
}
template [[host_name("reduced_by_simdgroup")]] kernel decltype(reductions<execution_simdgroup, false>)
    reductions<execution_simdgroup, false>;
template [[host_name("reduced_in_large_tiles")]] kernel decltype(reductions<execution_simdgroups<1>, true>)
    reductions<execution_simdgroups<1>, true>;
template [[host_name("reduced_by_thread")]] kernel decltype(reductions<execution_thread, false>)
    reductions<execution_thread, false>;
// RUN: --kernel reduced_by_simdgroup --threads 32 --group 32 --arg y=f32[24]=zeros
// EXPECT y: 200 201 202 203 204 205 206 207 208 209 210 211 212 213 214 215 216 217 218 219 191 2191 4191 0
// RUN: --kernel reduced_in_large_tiles --threads 32 --group 32 --arg y=f32[24]=zeros
// EXPECT y: 200 201 202 203 204 205 206 207 208 209 210 211 212 213 214 215 216 217 218 219 191 2191 4191 0
// RUN: --kernel reduced_by_thread --threads 1 --group 1 --arg y=f32[24]=zeros
// EXPECT y: 200 201 202 203 204 205 206 207 208 209 210 211 212 213 214 215 216 217 218 219 191 2191 4191 0

// A result that becomes an input keeps its elements, whichever fragments the two have.
template <bool FromRelaxed, bool ToRelaxed, int Rows, int Columns, typename From, typename To>
[[kernel]] void passed_on(device atomic_uint* wrong) {
  constexpr auto first_descriptor = matmul2d_descriptor(Rows, Columns, 8, false, false, FromRelaxed);
  constexpr auto second_descriptor = matmul2d_descriptor(Rows, 16, Columns, false, false, ToRelaxed);
  constexpr auto third_descriptor = matmul2d_descriptor(16, Columns, Rows, false, false, ToRelaxed);
  matmul2d<first_descriptor, execution_simdgroup> first;
  matmul2d<second_descriptor, execution_simdgroup> second;
  matmul2d<third_descriptor, execution_simdgroup> third;
  auto result = first.template get_destination_cooperative_tensor<half, half, From>();
  for (int i = 0; i < result.get_capacity(); ++i) {
    auto at = result.get_multidimensional_index(i);
    result[i] = at[1] * 3 - at[0];
  }
  auto left = second.template get_left_input_cooperative_tensor<To, To, float>(result);
  auto right = third.template get_right_input_cooperative_tensor<To, To, float>(result);
  for (int i = 0; i < left.get_capacity(); ++i) {
    auto at = left.get_multidimensional_index(i);
    if (!left.is_valid_element(i)) continue;
    atomic_fetch_add_explicit(wrong, uint(float(left[i]) != float(at[1] * 3 - at[0])), memory_order_relaxed);
    atomic_fetch_add_explicit(wrong + 1, 1u, memory_order_relaxed);
  }
  for (int i = 0; i < right.get_capacity(); ++i) {
    auto at = right.get_multidimensional_index(i);
    if (!right.is_valid_element(i)) continue;
    atomic_fetch_add_explicit(wrong, uint(float(right[i]) != float(at[1] * 3 - at[0])), memory_order_relaxed);
    atomic_fetch_add_explicit(wrong + 1, 1u, memory_order_relaxed);
  }
}
#define PASSED_ON(name, ...) \
  template [[host_name(name)]] kernel decltype(passed_on<__VA_ARGS__>) passed_on<__VA_ARGS__>;
PASSED_ON("passed_on", false, false, 16, 24, float, half)
PASSED_ON("passed_on_to_relaxed", false, true, 24, 40, float, half)
PASSED_ON("passed_on_from_relaxed", true, false, 12, 20, float, bfloat)
PASSED_ON("passed_on_both_relaxed", true, true, 12, 20, float, float)
PASSED_ON("passed_on_integers", true, false, 16, 16, int, char)
// RUN: --kernel passed_on --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 768
// RUN: --kernel passed_on_to_relaxed --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 1920
// RUN: --kernel passed_on_from_relaxed --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 480
// RUN: --kernel passed_on_both_relaxed --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 480
// RUN: --kernel passed_on_integers --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 512

// Where lanes hold tiles, functions are inlined whoever asks for a call.
// RUN: --kernel in_function --threads 32 --group 32 --arg wrong=u32[2]=zeros
// EXPECT wrong: 0 1024
// ENGINE: simd
template <int Turn>
__attribute__((noinline)) void add_products(const thread float* a, const thread half* b, thread float* c) {
  constexpr auto descriptor =
      matmul2d_descriptor(16, 32, 16, false, false, true, matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroup> operation;
  auto left = operation.get_left_input_cooperative_tensor<float, half, float>();
  auto right = operation.get_right_input_cooperative_tensor<float, half, float>();
  auto result = operation.get_destination_cooperative_tensor<decltype(left), decltype(right), float>();
  for (int i = 0; i < left.get_capacity(); ++i) left[i] = a[i];
  for (int i = 0; i < right.get_capacity(); ++i) right[i] = b[i];
  for (int i = 0; i < result.get_capacity(); ++i) result[i] = c[i];
  operation.run(left, right, result);
  for (int i = 0; i < result.get_capacity(); ++i) c[i] = result[i];
}
kernel void in_function(device atomic_uint* wrong) {
  constexpr auto descriptor = matmul2d_descriptor(16, 32, 16, false, false, true);
  matmul2d<descriptor, execution_simdgroup> operation;
  auto left = operation.get_left_input_cooperative_tensor<float, half, float>();
  auto right = operation.get_right_input_cooperative_tensor<float, half, float>();
  auto result = operation.get_destination_cooperative_tensor<decltype(left), decltype(right), float>();
  float a[8], c[16];
  half b[16];
  for (int i = 0; i < 8; ++i) {
    const auto at = left.get_multidimensional_index(i);
    a[i] = left_at(at[1], at[0]);
  }
  for (int i = 0; i < 16; ++i) {
    const auto at = right.get_multidimensional_index(i);
    b[i] = half(right_at(at[1], at[0]));
    const auto in_result = result.get_multidimensional_index(i);
    c[i] = 100 * in_result[1] + in_result[0];
  }
  add_products<0>(a, b, c);
  for (int i = 0; i < 16; ++i) result[i] = c[i];
  check(result, 16, wrong);
  for (int i = 0; i < 16; ++i) {
    const auto at = result.get_multidimensional_index(i);
    c[i] = 100 * at[1] + at[0];
  }
  add_products<0>(a, b, c);
  for (int i = 0; i < 16; ++i) result[i] = c[i];
  check(result, 16, wrong);
}
