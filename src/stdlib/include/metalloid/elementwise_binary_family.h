// The kernels that binary operators have both without and with alpha. Included twice by
// <metalloid/elementwise_binary.h>, which defines: METALLOID_TEMPLATE, METALLOID_NAME(kernel), METALLOID_RESULT,
// METALLOID_COMBINE(a, b), METALLOID_ALPHA(index) (alpha's parameter and a comma, or nothing) and METALLOID_SHIFT (1
// where alpha moves the indices behind it, else 0). No include guard for that reason.

METALLOID_TEMPLATE
kernel void METALLOID_NAME(dense)(device METALLOID_RESULT* output [[buffer(0)]], constant T* input [[buffer(1)]],
                                  constant T* other [[buffer(2)]],
                                  METALLOID_ALPHA(3) uint index [[thread_position_in_grid]]) {
  output[index] = METALLOID_COMBINE(input[index], other[index]);
}

METALLOID_TEMPLATE
kernel void METALLOID_NAME(dense_cast)(device METALLOID_RESULT* output [[buffer(0)]],
                                       constant void* input [[buffer(1)]], constant void* other [[buffer(2)]],
                                       METALLOID_ALPHA(3) constant uint4& sizes_types [[buffer(3 + METALLOID_SHIFT)]],
                                       uint index [[thread_position_in_grid]]) {
  const uint4 given = sizes_types;
  const T a = detail::typed_operand<T>(input, index, given.x, given.z);
  const T b = detail::typed_operand<T>(other, index, given.y, given.w);
  output[index] = METALLOID_COMBINE(a, b);
}

METALLOID_TEMPLATE
kernel void METALLOID_NAME(strided)(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                    constant void* other [[buffer(2)]],
                                    METALLOID_ALPHA(3) constant long* sizes [[buffer(3 + METALLOID_SHIFT)]],
                                    constant long* output_strides [[buffer(4 + METALLOID_SHIFT)]],
                                    constant long* input_strides [[buffer(5 + METALLOID_SHIFT)]],
                                    constant long* other_strides [[buffer(6 + METALLOID_SHIFT)]],
                                    constant uint3& ndim [[buffer(7 + METALLOID_SHIFT)]],
                                    uint index [[thread_position_in_grid]]) {
  const T a = val_at_offs<T>(input, detail::row_offset(index, sizes, input_strides, ndim.x));
  const T b = val_at_offs<T>(other, detail::row_offset(index, sizes, other_strides, ndim.x));
  ref_at_offs<METALLOID_RESULT>(output, detail::row_offset(index, sizes, output_strides, ndim.x)) =
      METALLOID_COMBINE(a, b);
}

METALLOID_TEMPLATE
kernel void METALLOID_NAME(strided_cast)(device void* output [[buffer(0)]], constant void* input [[buffer(1)]],
                                         constant void* other [[buffer(2)]],
                                         METALLOID_ALPHA(3) constant long* sizes [[buffer(3 + METALLOID_SHIFT)]],
                                         constant long* output_strides [[buffer(4 + METALLOID_SHIFT)]],
                                         constant long* input_strides [[buffer(5 + METALLOID_SHIFT)]],
                                         constant long* other_strides [[buffer(6 + METALLOID_SHIFT)]],
                                         constant uint4& ndim_types [[buffer(7 + METALLOID_SHIFT)]],
                                         uint index [[thread_position_in_grid]]) {
  const uint4 given = ndim_types;
  const T a = val_at_offs<T>(input, detail::row_offset(index, sizes, input_strides, given.x), ScalarType(given.y));
  const T b = val_at_offs<T>(other, detail::row_offset(index, sizes, other_strides, given.x), ScalarType(given.z));
  ref_at_offs<METALLOID_RESULT>(output, detail::row_offset(index, sizes, output_strides, given.x)) =
      METALLOID_COMBINE(a, b);
}

// One operand has `numel` elements and is repeated; "rhs": it is the left one. "scalar": one operand is a single
// element; "lhs": the left one.
#define METALLOID_REPEATED(which, left, right)                                                                        \
  METALLOID_TEMPLATE                                                                                                  \
  kernel void METALLOID_NAME(which)(device METALLOID_RESULT * output [[buffer(0)]], constant T * input [[buffer(1)]], \
                                    constant T * other [[buffer(2)]], constant long& numel [[buffer(3)]],             \
                                    METALLOID_ALPHA(4) uint index [[thread_position_in_grid]]) {                      \
    output[index] = METALLOID_COMBINE(input[left], other[right]);                                                     \
  }                                                                                                                   \
  METALLOID_TEMPLATE                                                                                                  \
  kernel void METALLOID_NAME(which##_cast)(                                                                           \
      device METALLOID_RESULT * output [[buffer(0)]], constant void* input [[buffer(1)]],                             \
      constant void* other [[buffer(2)]], constant long& numel [[buffer(3)]],                                         \
      METALLOID_ALPHA(4) constant uint4& sizes_types [[buffer(4 + METALLOID_SHIFT)]],                                 \
      uint index [[thread_position_in_grid]]) {                                                                       \
    const uint4 given = sizes_types;                                                                                  \
    const T a = detail::typed_operand<T>(input, left, given.x, given.z);                                              \
    const T b = detail::typed_operand<T>(other, right, given.y, given.w);                                             \
    output[index] = METALLOID_COMBINE(a, b);                                                                          \
  }
METALLOID_REPEATED(dense_broadcast, index, index % uint(numel))
METALLOID_REPEATED(dense_broadcast_rhs, index % uint(numel), index)
#undef METALLOID_REPEATED

#define METALLOID_SINGLE(which, left_space, left, right_space, right)                                        \
  METALLOID_TEMPLATE                                                                                         \
  kernel void METALLOID_NAME(which)(device METALLOID_RESULT * output [[buffer(0)]],                          \
                                    left_space T * input [[buffer(1)]], right_space T * other [[buffer(2)]], \
                                    METALLOID_ALPHA(3) uint index [[thread_position_in_grid]]) {             \
    output[index] = METALLOID_COMBINE(input[left], other[right]);                                            \
  }                                                                                                          \
  METALLOID_TEMPLATE                                                                                         \
  kernel void METALLOID_NAME(which##_cast)(                                                                  \
      device METALLOID_RESULT * output [[buffer(0)]], left_space void* input [[buffer(1)]],                  \
      right_space void* other [[buffer(2)]],                                                                 \
      METALLOID_ALPHA(3) constant uint4& sizes_types [[buffer(3 + METALLOID_SHIFT)]],                        \
      uint index [[thread_position_in_grid]]) {                                                              \
    const uint4 given = sizes_types;                                                                         \
    const T a = detail::typed_operand<T>(input, left, given.x, given.z);                                     \
    const T b = detail::typed_operand<T>(other, right, given.y, given.w);                                    \
    output[index] = METALLOID_COMBINE(a, b);                                                                 \
  }
METALLOID_SINGLE(dense_scalar, constant, index, device const, 0)
METALLOID_SINGLE(dense_scalar_lhs, device const, 0, constant, index)
#undef METALLOID_SINGLE
