// Kernels of binary elementwise operators, for <c10/metal/indexing.h>. Each family comes plain, with an extra operand
// "alpha" that is the same for all elements, and with operands of types that the host names ("cast").
#ifndef METALLOID_ELEMENTWISE_BINARY_H
#define METALLOID_ELEMENTWISE_BINARY_H

#include <metalloid/elementwise_unary.h>

namespace c10 {
namespace metal {
namespace detail {

// f of two operands that are computed with as `Compute`; the result has the type that f has for T.
template <typename T, typename F, typename Compute, typename... Alpha>
METALLOID_FUNC result_of<F, T, T, Alpha...> combine(T a, T b, Alpha... alpha) {
  F f;
  return static_cast<result_of<F, T, T, Alpha...>>(f(Compute(a), Compute(b), alpha...));
}

// Operand number `element` of elements of the type that `type` names, each `size` bytes.
template <typename T, typename Pointer>
METALLOID_FUNC T typed_operand(Pointer memory, uint element, uint size, uint type) {
  return val_at_offs<T>(memory, long(element) * size, ScalarType(type));
}

}  // namespace detail

#define METALLOID_TEMPLATE template <typename T, typename F, typename Compute = T>
#define METALLOID_NAME(kernel) binary_##kernel
#define METALLOID_RESULT result_of<F, T, T>
#define METALLOID_COMBINE(a, b) detail::combine<T, F, Compute>(a, b)
#define METALLOID_ALPHA(index)
#define METALLOID_SHIFT 0
#include <metalloid/elementwise_binary_family.h>
#undef METALLOID_TEMPLATE
#undef METALLOID_NAME
#undef METALLOID_RESULT
#undef METALLOID_COMBINE
#undef METALLOID_ALPHA
#undef METALLOID_SHIFT

#define METALLOID_TEMPLATE template <typename T, typename A, typename F>
#define METALLOID_NAME(kernel) binary_alpha_##kernel
#define METALLOID_RESULT result_of<F, T, T, A>
#define METALLOID_COMBINE(a, b) detail::combine<T, F, T>(a, b, A(alpha))
#define METALLOID_ALPHA(index) constant A &alpha [[buffer(index)]],
#define METALLOID_SHIFT 1
#include <metalloid/elementwise_binary_family.h>
#undef METALLOID_TEMPLATE
#undef METALLOID_NAME
#undef METALLOID_RESULT
#undef METALLOID_COMBINE
#undef METALLOID_ALPHA
#undef METALLOID_SHIFT

template <typename T, typename F, typename Compute = T>
kernel void binary_dense_ilp(device result_of<F, T, T>* output [[buffer(0)]], constant T* input [[buffer(1)]],
                             constant T* other [[buffer(2)]], constant uint& numel [[buffer(3)]],
                             uint index [[thread_position_in_grid]]) {
  detail::for_elements(index, numel, [&](uint i) { output[i] = detail::combine<T, F, Compute>(input[i], other[i]); });
}

template <typename T, typename F, typename Compute = T>
kernel void binary_inner_contiguous(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                    constant void* other [[buffer(2)]], constant long* outer_sizes [[buffer(3)]],
                                    constant long* output_outer_strides [[buffer(4)]],
                                    constant long* input_outer_strides [[buffer(5)]],
                                    constant long* other_outer_strides [[buffer(6)]],
                                    constant uint2& ndim_outer_inner [[buffer(7)]],
                                    uint2 index [[thread_position_in_grid]]) {
  using result_t = result_of<F, T, T>;
  const uint ndim = ndim_outer_inner.x;
  const long left = detail::row_offset(index.y, outer_sizes, input_outer_strides, ndim);
  const long right = detail::row_offset(index.y, outer_sizes, other_outer_strides, ndim);
  const long to = detail::row_offset(index.y, outer_sizes, output_outer_strides, ndim);
  detail::for_elements(index.x, ndim_outer_inner.y, [&](uint i) {
    ref_at_offs<result_t>(output, to + long(i * sizeof(result_t))) = detail::combine<T, F, Compute>(
        val_at_offs<T>(input, left + long(i * sizeof(T))), val_at_offs<T>(other, right + long(i * sizeof(T))));
  });
}

// The host names all three types.
template <typename T, typename F, typename Compute = T>
kernel void binary_strided_castout(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                   constant void* other [[buffer(2)]], constant long* sizes [[buffer(3)]],
                                   constant long* output_strides [[buffer(4)]],
                                   constant long* input_strides [[buffer(5)]],
                                   constant long* other_strides [[buffer(6)]], constant uint4& ndim_types [[buffer(7)]],
                                   uint index [[thread_position_in_grid]]) {
  const uint4 given = ndim_types;
  const T a = val_at_offs<T>(input, detail::row_offset(index, sizes, input_strides, given.x), ScalarType(given.y));
  const T b = val_at_offs<T>(other, detail::row_offset(index, sizes, other_strides, given.x), ScalarType(given.z));
  store_at_offs<result_of<F, T, T>>(output, detail::row_offset(index, sizes, output_strides, given.x),
                                    ScalarType(given.w), detail::combine<T, F, Compute>(a, b));
}

}  // namespace metal
}  // namespace c10

#define METALLOID_BINARY_FAMILY(NAME, SUFFIX, KERNEL, ...)                                                    \
  METALLOID_KERNEL(#NAME "_dense_" SUFFIX, KERNEL##_dense<__VA_ARGS__>)                                       \
  METALLOID_KERNEL(#NAME "_strided_" SUFFIX, KERNEL##_strided<__VA_ARGS__>)                                   \
  METALLOID_KERNEL(#NAME "_dense_cast_" SUFFIX, KERNEL##_dense_cast<__VA_ARGS__>)                             \
  METALLOID_KERNEL(#NAME "_strided_cast_" SUFFIX, KERNEL##_strided_cast<__VA_ARGS__>)                         \
  METALLOID_KERNEL(#NAME "_dense_broadcast_" SUFFIX, KERNEL##_dense_broadcast<__VA_ARGS__>)                   \
  METALLOID_KERNEL(#NAME "_dense_broadcast_rhs_" SUFFIX, KERNEL##_dense_broadcast_rhs<__VA_ARGS__>)           \
  METALLOID_KERNEL(#NAME "_dense_broadcast_cast_" SUFFIX, KERNEL##_dense_broadcast_cast<__VA_ARGS__>)         \
  METALLOID_KERNEL(#NAME "_dense_broadcast_rhs_cast_" SUFFIX, KERNEL##_dense_broadcast_rhs_cast<__VA_ARGS__>) \
  METALLOID_KERNEL(#NAME "_dense_scalar_" SUFFIX, KERNEL##_dense_scalar<__VA_ARGS__>)                         \
  METALLOID_KERNEL(#NAME "_dense_scalar_lhs_" SUFFIX, KERNEL##_dense_scalar_lhs<__VA_ARGS__>)                 \
  METALLOID_KERNEL(#NAME "_dense_scalar_cast_" SUFFIX, KERNEL##_dense_scalar_cast<__VA_ARGS__>)               \
  METALLOID_KERNEL(#NAME "_dense_scalar_lhs_cast_" SUFFIX, KERNEL##_dense_scalar_lhs_cast<__VA_ARGS__>)

#define REGISTER_BINARY_OP_(NAME, IN, OUT, COMPUTE)                                       \
  static_assert(::metal::is_same_v<OUT, ::c10::metal::result_of<NAME##_functor, IN, IN>>, \
                "Output dtype mismatch for binary op " #NAME " and input " #IN);          \
  METALLOID_BINARY_FAMILY(NAME, #OUT "_" #IN, binary, IN, NAME##_functor, COMPUTE)        \
  METALLOID_KERNEL(#NAME "_dense_ilp" C10_METAL_ILP_PER_THREAD_STR "_" #OUT "_" #IN,      \
                   binary_dense_ilp<IN, NAME##_functor, COMPUTE>)                         \
  METALLOID_KERNEL(#NAME "_inner_contiguous_" #OUT "_" #IN, binary_inner_contiguous<IN, NAME##_functor, COMPUTE>)

#define REGISTER_BINARY_OP(NAME, IN, OUT) REGISTER_BINARY_OP_(NAME, IN, OUT, IN)
#define REGISTER_OPMATH_BINARY_OP(NAME, IN, OUT) REGISTER_BINARY_OP_(NAME, IN, OUT, ::c10::metal::opmath_t<IN>)
#define REGISTER_BINARY_CASTOUT_OP(NAME, IN, OUT) \
  METALLOID_KERNEL(#NAME "_strided_castout_" #OUT "_" #IN, binary_strided_castout<IN, NAME##_functor>)

#define REGISTER_BINARY_ALPHA_OP(NAME, IN, ALPHA, OUT)                                           \
  static_assert(::metal::is_same_v<OUT, ::c10::metal::result_of<NAME##_functor, IN, IN, ALPHA>>, \
                "Output dtype mismatch for binary op " #NAME " and input " #IN);                 \
  METALLOID_BINARY_FAMILY(NAME, #OUT "_" #IN "_" #ALPHA, binary_alpha, IN, ALPHA, NAME##_functor)

#endif
