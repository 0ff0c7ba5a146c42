// Kernels of ternary elementwise operators, for <c10/metal/indexing.h>: dense and strided, with operands of one type or
// of types that the host names ("cast"; the fourth is the output's).
#ifndef METALLOID_ELEMENTWISE_TERNARY_H
#define METALLOID_ELEMENTWISE_TERNARY_H

#include <metalloid/elementwise_binary.h>

namespace c10 {
namespace metal {
namespace detail {

// Byte offsets of output, input, other1, other2 on a grid whose z counts the dimensions from 2 on.
METALLOID_FUNC long4 ternary_offsets(uint3 index, constant long* sizes, uint ndim, constant long* output_strides,
                                     constant long* input_strides, constant long* first_strides,
                                     constant long* second_strides) {
  long4 offsets = long4(0);
  uint rest = index.z;
  for (uint dim = 0; dim < ndim; ++dim) {
    long position;
    if (dim < 2) {
      position = dim == 0 ? index.x : index.y;
    } else {
      position = rest % uint(sizes[dim]);
      rest /= uint(sizes[dim]);
    }
    offsets += position * long4(output_strides[dim], input_strides[dim], first_strides[dim], second_strides[dim]);
  }
  return offsets;
}

template <typename F, typename T, typename Compute, typename A0, typename... Alpha>
METALLOID_FUNC result_of<F, T, T, T, Alpha...> combine_three(A0 a, T b, T c, Alpha... alpha) {
  F f;
  return static_cast<result_of<F, T, T, T, Alpha...>>(f(Compute(a), Compute(b), Compute(c), alpha...));
}

}  // namespace detail

template <typename T, typename F, typename Compute = T, typename T0 = T>
kernel void ternary_dense(device result_of<F, T, T, T>* output [[buffer(0)]], constant T0* input [[buffer(1)]],
                          constant T* other1 [[buffer(2)]], constant T* other2 [[buffer(3)]],
                          uint index [[thread_position_in_grid]]) {
  output[index] = detail::combine_three<F, T, Compute>(input[index], other1[index], other2[index]);
}

template <typename T, typename F, typename Compute = T, typename T0 = T>
kernel void ternary_strided(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                            constant void* other1 [[buffer(2)]], constant void* other2 [[buffer(3)]],
                            constant long* sizes [[buffer(4)]], constant long* output_strides [[buffer(5)]],
                            constant long* input_strides [[buffer(6)]], constant long* other1_strides [[buffer(7)]],
                            constant long* other2_strides [[buffer(8)]], constant uint& ndim [[buffer(9)]],
                            uint3 index [[thread_position_in_grid]]) {
  const long4 at =
      detail::ternary_offsets(index, sizes, ndim, output_strides, input_strides, other1_strides, other2_strides);
  ref_at_offs<result_of<F, T, T, T>>(output, at.x) = detail::combine_three<F, T, Compute>(
      val_at_offs<T0>(input, at.y), val_at_offs<T>(other1, at.z), val_at_offs<T>(other2, at.w));
}

template <typename T, typename F, typename Compute = T>
kernel void ternary_dense_cast(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                               constant void* other1 [[buffer(2)]], constant void* other2 [[buffer(3)]],
                               constant uint4& sizes [[buffer(4)]], constant uint4& types [[buffer(5)]],
                               uint index [[thread_position_in_grid]]) {
  F f;
  using result_t = result_of<F, T, T, T>;
  const uint4 size = sizes, type = types;
  const Compute a = detail::typed_operand<Compute>(input, index, size.x, type.x);
  const Compute b = detail::typed_operand<Compute>(other1, index, size.y, type.y);
  const Compute c = detail::typed_operand<Compute>(other2, index, size.z, type.z);
  store_at_offs<result_t>(output, long(index) * size.w, ScalarType(type.w), static_cast<result_t>(f(a, b, c)));
}

template <typename T, typename F, typename Compute = T>
kernel void ternary_strided_cast(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                 constant void* other1 [[buffer(2)]], constant void* other2 [[buffer(3)]],
                                 constant long* sizes [[buffer(4)]], constant long* output_strides [[buffer(5)]],
                                 constant long* input_strides [[buffer(6)]],
                                 constant long* other1_strides [[buffer(7)]],
                                 constant long* other2_strides [[buffer(8)]], constant uint& ndim [[buffer(9)]],
                                 constant uint4& types [[buffer(10)]], uint3 index [[thread_position_in_grid]]) {
  F f;
  using result_t = result_of<F, T, T, T>;
  const uint4 type = types;
  const long4 at =
      detail::ternary_offsets(index, sizes, ndim, output_strides, input_strides, other1_strides, other2_strides);
  const Compute a = val_at_offs<Compute>(input, at.y, ScalarType(type.x));
  const Compute b = val_at_offs<Compute>(other1, at.z, ScalarType(type.y));
  const Compute c = val_at_offs<Compute>(other2, at.w, ScalarType(type.z));
  store_at_offs<result_t>(output, at.x, ScalarType(type.w), static_cast<result_t>(f(a, b, c)));
}

template <typename T, typename A, typename F, typename Compute = T>
kernel void ternary_alpha_dense(device result_of<F, T, T, T, A>* output [[buffer(0)]], constant T* input [[buffer(1)]],
                                constant T* other1 [[buffer(2)]], constant T* other2 [[buffer(3)]],
                                constant A& alpha [[buffer(4)]], uint index [[thread_position_in_grid]]) {
  output[index] = detail::combine_three<F, T, Compute>(input[index], other1[index], other2[index], A(alpha));
}

template <typename T, typename A, typename F, typename Compute = T>
kernel void ternary_alpha_strided(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                  constant void* other1 [[buffer(2)]], constant void* other2 [[buffer(3)]],
                                  constant A& alpha [[buffer(4)]], constant long* sizes [[buffer(5)]],
                                  constant long* output_strides [[buffer(6)]],
                                  constant long* input_strides [[buffer(7)]],
                                  constant long* other1_strides [[buffer(8)]],
                                  constant long* other2_strides [[buffer(9)]], constant uint& ndim [[buffer(10)]],
                                  uint3 index [[thread_position_in_grid]]) {
  const long4 at =
      detail::ternary_offsets(index, sizes, ndim, output_strides, input_strides, other1_strides, other2_strides);
  ref_at_offs<result_of<F, T, T, T, A>>(output, at.x) = detail::combine_three<F, T, Compute>(
      val_at_offs<T>(input, at.y), val_at_offs<T>(other1, at.z), val_at_offs<T>(other2, at.w), A(alpha));
}

template <typename T, typename A, typename F, typename Compute = T>
kernel void ternary_alpha_dense_cast(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                     constant void* other1 [[buffer(2)]], constant void* other2 [[buffer(3)]],
                                     constant A& alpha [[buffer(4)]], constant uint4& sizes [[buffer(5)]],
                                     constant uint4& types [[buffer(6)]], uint index [[thread_position_in_grid]]) {
  F f;
  using result_t = result_of<F, T, T, T, A>;
  const uint4 size = sizes, type = types;
  const Compute a = detail::typed_operand<Compute>(input, index, size.x, type.x);
  const Compute b = detail::typed_operand<Compute>(other1, index, size.y, type.y);
  const Compute c = detail::typed_operand<Compute>(other2, index, size.z, type.z);
  store_at_offs<result_t>(output, long(index) * size.w, ScalarType(type.w), static_cast<result_t>(f(a, b, c, alpha)));
}

template <typename T, typename A, typename F, typename Compute = T>
kernel void ternary_alpha_strided_cast(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                       constant void* other1 [[buffer(2)]], constant void* other2 [[buffer(3)]],
                                       constant A& alpha [[buffer(4)]], constant long* sizes [[buffer(5)]],
                                       constant long* output_strides [[buffer(6)]],
                                       constant long* input_strides [[buffer(7)]],
                                       constant long* other1_strides [[buffer(8)]],
                                       constant long* other2_strides [[buffer(9)]], constant uint& ndim [[buffer(10)]],
                                       constant uint4& types [[buffer(11)]], uint3 index [[thread_position_in_grid]]) {
  F f;
  using result_t = result_of<F, T, T, T, A>;
  const uint4 type = types;
  const long4 at =
      detail::ternary_offsets(index, sizes, ndim, output_strides, input_strides, other1_strides, other2_strides);
  const Compute a = val_at_offs<Compute>(input, at.y, ScalarType(type.x));
  const Compute b = val_at_offs<Compute>(other1, at.z, ScalarType(type.y));
  const Compute c = val_at_offs<Compute>(other2, at.w, ScalarType(type.z));
  store_at_offs<result_t>(output, at.x, ScalarType(type.w), static_cast<result_t>(f(a, b, c, alpha)));
}

}  // namespace metal
}  // namespace c10

#define REGISTER_TERNARY_OP_(NAME, IN, OUT, COMPUTE)                                             \
  static_assert(::metal::is_same_v<OUT, ::c10::metal::result_of<NAME##_functor, IN, IN, IN>>,    \
                "Output dtype mismatch for ternary op " #NAME " and input " #IN);                \
  METALLOID_KERNEL(#NAME "_dense_" #OUT "_" #IN, ternary_dense<IN, NAME##_functor, COMPUTE>)     \
  METALLOID_KERNEL(#NAME "_strided_" #OUT "_" #IN, ternary_strided<IN, NAME##_functor, COMPUTE>) \
  METALLOID_KERNEL(#NAME "_dense_cast_" #IN, ternary_dense_cast<IN, NAME##_functor, COMPUTE>)    \
  METALLOID_KERNEL(#NAME "_strided_cast_" #IN, ternary_strided_cast<IN, NAME##_functor, COMPUTE>)

#define REGISTER_TERNARY_OP(NAME, IN, OUT) REGISTER_TERNARY_OP_(NAME, IN, OUT, IN)
#define REGISTER_OPMATH_TERNARY_OP(NAME, IN, OUT) REGISTER_TERNARY_OP_(NAME, IN, OUT, ::c10::metal::opmath_t<IN>)

#define REGISTER_TERNARY_ALPHA_OP_(NAME, IN, ALPHA, OUT, COMPUTE)                                                     \
  static_assert(::metal::is_same_v<OUT, ::c10::metal::result_of<NAME##_functor, IN, IN, IN, ALPHA>>,                  \
                "Output dtype mismatch for ternary op " #NAME " and input " #IN);                                     \
  METALLOID_KERNEL(#NAME "_dense_" #OUT "_" #IN "_" #ALPHA, ternary_alpha_dense<IN, ALPHA, NAME##_functor, COMPUTE>)  \
  METALLOID_KERNEL(#NAME "_strided_" #OUT "_" #IN "_" #ALPHA,                                                         \
                   ternary_alpha_strided<IN, ALPHA, NAME##_functor, COMPUTE>)                                         \
  METALLOID_KERNEL(#NAME "_dense_cast_" #IN "_" #ALPHA, ternary_alpha_dense_cast<IN, ALPHA, NAME##_functor, COMPUTE>) \
  METALLOID_KERNEL(#NAME "_strided_cast_" #IN "_" #ALPHA,                                                             \
                   ternary_alpha_strided_cast<IN, ALPHA, NAME##_functor, COMPUTE>)

#define REGISTER_TERNARY_ALPHA_OP(NAME, IN, ALPHA, OUT) REGISTER_TERNARY_ALPHA_OP_(NAME, IN, ALPHA, OUT, IN)
#define REGISTER_OPMATH_TERNARY_ALPHA_OP(NAME, IN, ALPHA, OUT) \
  REGISTER_TERNARY_ALPHA_OP_(NAME, IN, ALPHA, OUT, ::c10::metal::opmath_t<IN>)

#endif
