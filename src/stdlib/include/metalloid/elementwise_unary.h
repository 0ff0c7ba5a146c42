// Kernels of unary elementwise operators, for <c10/metal/indexing.h>. Kernels named "castout" compute in the input's
// precision and store the type that the host asks for. A thread of an "ilp" or "inner_contiguous" kernel takes
// ILP_PER_THREAD elements side by side.
#ifndef METALLOID_ELEMENTWISE_UNARY_H
#define METALLOID_ELEMENTWISE_UNARY_H

#include <c10/metal/common.h>
#include <c10/metal/utils.h>

namespace c10 {
namespace metal {
namespace detail {

// Calls body(i) for the thread's elements among `count`.
template <typename Body>
METALLOID_FUNC void for_elements(uint thread_index, uint count, Body body) {
  const uint first = thread_index * ILP_PER_THREAD;
  const uint end = ::metal::min(first + ILP_PER_THREAD, count);
  for (uint i = first; i < end; ++i) body(i);
}

// Where a row of an inner-contiguous tensor begins; the row's number counts the outer dimensions.
METALLOID_FUNC long row_offset(uint row, constant long* sizes, constant long* strides, uint ndim) {
  int position[max_ndim];
  pos_from_thread_index(int(row), position, sizes, ndim);
  long offset = 0;
  for (uint dim = 0; dim < ndim; ++dim) offset += long(position[dim]) * strides[dim];
  return offset;
}

// The byte offset of an element on a (size of dimension 0, rest) grid.
METALLOID_FUNC long grid_offset(uint2 position_in_grid, constant long* sizes, constant long* strides, uint ndim) {
  int position[max_ndim];
  pos_from_thread_index(position_in_grid, position, sizes, ndim);
  long offset = 0;
  for (uint dim = 0; dim < ndim; ++dim) offset += long(position[dim]) * strides[dim];
  return offset;
}

}  // namespace detail

template <typename T, typename F>
kernel void unary_dense_scalar(device result_of<F, T>* output [[buffer(0)]], constant T* input [[buffer(1)]],
                               uint index [[thread_position_in_grid]]) {
  F f;
  output[index] = f(input[index]);
}

template <typename T, typename F>
kernel void unary_dense(device result_of<F, T>* output [[buffer(0)]], constant T* input [[buffer(1)]],
                        constant uint& numel [[buffer(2)]], uint index [[thread_position_in_grid]]) {
  F f;
  detail::for_elements(index, numel, [&](uint i) { output[i] = f(input[i]); });
}

template <typename T, typename F>
kernel void unary_strided(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                          constant long* sizes [[buffer(2)]], constant long* input_strides [[buffer(3)]],
                          constant long* output_strides [[buffer(4)]], constant uint& ndim [[buffer(5)]],
                          uint2 index [[thread_position_in_grid]]) {
  F f;
  const T x = val_at_offs<T>(input, detail::grid_offset(index, sizes, input_strides, ndim));
  ref_at_offs<result_of<F, T>>(output, detail::grid_offset(index, sizes, output_strides, ndim)) = f(x);
}

template <typename T, typename F>
kernel void unary_inner_contiguous(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                   constant long* outer_sizes [[buffer(2)]],
                                   constant long* input_outer_strides [[buffer(3)]],
                                   constant long* output_outer_strides [[buffer(4)]],
                                   constant uint2& ndim_outer_inner [[buffer(5)]],
                                   uint2 index [[thread_position_in_grid]]) {
  F f;
  using result_t = result_of<F, T>;
  const uint ndim = ndim_outer_inner.x;
  const long from = detail::row_offset(index.y, outer_sizes, input_outer_strides, ndim);
  const long to = detail::row_offset(index.y, outer_sizes, output_outer_strides, ndim);
  detail::for_elements(index.x, ndim_outer_inner.y, [&](uint i) {
    ref_at_offs<result_t>(output, to + long(i * sizeof(result_t))) =
        f(val_at_offs<T>(input, from + long(i * sizeof(T))));
  });
}

template <typename T, typename F>
kernel void unary_dense_castout(device void* output [[buffer(0)]], constant T* input [[buffer(1)]],
                                constant uint2& size_type [[buffer(2)]], uint index [[thread_position_in_grid]]) {
  F f;
  store_at_offs<result_of<F, T>>(output, long(index) * size_type.x, ScalarType(size_type.y), f(input[index]));
}

template <typename T, typename F>
kernel void unary_dense_castout_ilp(device void* output [[buffer(0)]], constant T* input [[buffer(1)]],
                                    constant uint3& size_type_numel [[buffer(2)]],
                                    uint index [[thread_position_in_grid]]) {
  F f;
  const uint3 asked = size_type_numel;
  detail::for_elements(index, asked.z, [&](uint i) {
    store_at_offs<result_of<F, T>>(output, long(i) * asked.x, ScalarType(asked.y), f(input[i]));
  });
}

template <typename T, typename F>
kernel void unary_strided_castout(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                  constant long* sizes [[buffer(2)]], constant long* input_strides [[buffer(3)]],
                                  constant long* output_strides [[buffer(4)]], constant uint2& ndim_type [[buffer(5)]],
                                  uint2 index [[thread_position_in_grid]]) {
  F f;
  const uint ndim = ndim_type.x;
  const T x = val_at_offs<T>(input, detail::grid_offset(index, sizes, input_strides, ndim));
  const long to = detail::grid_offset(index, sizes, output_strides, ndim);
  store_at_offs<result_of<F, T>>(output, to, ScalarType(ndim_type.y), f(x));
}

template <typename T, typename F>
kernel void unary_inner_contiguous_castout(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                           constant long* outer_sizes [[buffer(2)]],
                                           constant long* input_outer_strides [[buffer(3)]],
                                           constant long* output_outer_strides [[buffer(4)]],
                                           constant uint4& ndim_outer_inner_size_type [[buffer(5)]],
                                           uint2 index [[thread_position_in_grid]]) {
  F f;
  const uint4 asked = ndim_outer_inner_size_type;
  const long from = detail::row_offset(index.y, outer_sizes, input_outer_strides, asked.x);
  const long to = detail::row_offset(index.y, outer_sizes, output_outer_strides, asked.x);
  detail::for_elements(index.x, asked.y, [&](uint i) {
    store_at_offs<result_of<F, T>>(output, to + long(i) * asked.z, ScalarType(asked.w),
                                   f(val_at_offs<T>(input, from + long(i * sizeof(T)))));
  });
}

// With a second operand that is the same for all elements.
template <typename T, typename A, typename F>
kernel void unary_alpha_dense(device result_of<F, T, A>* output [[buffer(0)]], constant T* input [[buffer(1)]],
                              constant A& alpha [[buffer(2)]], uint index [[thread_position_in_grid]]) {
  F f;
  output[index] = f(input[index], alpha);
}

template <typename T, typename A, typename F>
kernel void unary_alpha_dense_ilp(device result_of<F, T, A>* output [[buffer(0)]], constant T* input [[buffer(1)]],
                                  constant A& alpha [[buffer(2)]], constant uint& numel [[buffer(3)]],
                                  uint index [[thread_position_in_grid]]) {
  F f;
  detail::for_elements(index, numel, [&](uint i) { output[i] = f(input[i], alpha); });
}

template <typename T, typename A, typename F>
kernel void unary_alpha_strided(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                constant long* sizes [[buffer(2)]], constant long* input_strides [[buffer(3)]],
                                constant long* output_strides [[buffer(4)]], constant uint& ndim [[buffer(5)]],
                                constant A& alpha [[buffer(6)]], uint2 index [[thread_position_in_grid]]) {
  F f;
  const T x = val_at_offs<T>(input, detail::grid_offset(index, sizes, input_strides, ndim));
  ref_at_offs<result_of<F, T, A>>(output, detail::grid_offset(index, sizes, output_strides, ndim)) = f(x, alpha);
}

template <typename T, typename A, typename F>
kernel void unary_alpha_inner_contiguous(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                         constant long* outer_sizes [[buffer(2)]],
                                         constant long* input_outer_strides [[buffer(3)]],
                                         constant long* output_outer_strides [[buffer(4)]],
                                         constant uint2& ndim_outer_inner [[buffer(5)]],
                                         constant A& alpha [[buffer(6)]], uint2 index [[thread_position_in_grid]]) {
  F f;
  using result_t = result_of<F, T, A>;
  const uint ndim = ndim_outer_inner.x;
  const long from = detail::row_offset(index.y, outer_sizes, input_outer_strides, ndim);
  const long to = detail::row_offset(index.y, outer_sizes, output_outer_strides, ndim);
  detail::for_elements(index.x, ndim_outer_inner.y, [&](uint i) {
    ref_at_offs<result_t>(output, to + long(i * sizeof(result_t))) =
        f(val_at_offs<T>(input, from + long(i * sizeof(T))), alpha);
  });
}

}  // namespace metal
}  // namespace c10

// One kernel under the name that hosts look for.
#define METALLOID_KERNEL(host, ...) \
  template [[host_name(host)]] kernel decltype(c10::metal::__VA_ARGS__) c10::metal::__VA_ARGS__;

#define REGISTER_UNARY_OP(NAME, IN, OUT)                                                                \
  static_assert(::metal::is_same_v<OUT, ::c10::metal::result_of<NAME##_functor, IN>>,                   \
                "Output dtype mismatch for unary op " #NAME " and input " #IN);                         \
  METALLOID_KERNEL(#NAME "_dense_" #OUT "_" #IN, unary_dense<IN, NAME##_functor>)                       \
  METALLOID_KERNEL(#NAME "_dense_scalar_" #OUT "_" #IN, unary_dense_scalar<IN, NAME##_functor>)         \
  METALLOID_KERNEL(#NAME "_strided_" #OUT "_" #IN, unary_strided<IN, NAME##_functor>)                   \
  METALLOID_KERNEL(#NAME "_inner_contiguous_" #OUT "_" #IN, unary_inner_contiguous<IN, NAME##_functor>) \
  METALLOID_KERNEL(#NAME "_dense_castout_" #IN, unary_dense_castout<IN, NAME##_functor>)                \
  METALLOID_KERNEL(#NAME "_dense_castout_ilp_" #IN, unary_dense_castout_ilp<IN, NAME##_functor>)        \
  METALLOID_KERNEL(#NAME "_strided_castout_" #IN, unary_strided_castout<IN, NAME##_functor>)            \
  METALLOID_KERNEL(#NAME "_inner_contiguous_castout_" #IN, unary_inner_contiguous_castout<IN, NAME##_functor>)

#define REGISTER_UNARY_ALPHA_OP(NAME, IN, ALPHA, OUT)                                                             \
  static_assert(::metal::is_same_v<OUT, ::c10::metal::result_of<NAME##_functor, IN, ALPHA>>,                      \
                "Output dtype mismatch for unary op " #NAME " and input " #IN);                                   \
  METALLOID_KERNEL(#NAME "_dense_" #OUT "_" #IN "_" #ALPHA, unary_alpha_dense<IN, ALPHA, NAME##_functor>)         \
  METALLOID_KERNEL(#NAME "_dense_ilp_" #OUT "_" #IN "_" #ALPHA, unary_alpha_dense_ilp<IN, ALPHA, NAME##_functor>) \
  METALLOID_KERNEL(#NAME "_strided_" #OUT "_" #IN "_" #ALPHA, unary_alpha_strided<IN, ALPHA, NAME##_functor>)     \
  METALLOID_KERNEL(#NAME "_inner_contiguous_" #OUT "_" #IN "_" #ALPHA,                                            \
                   unary_alpha_inner_contiguous<IN, ALPHA, NAME##_functor>)

#endif
