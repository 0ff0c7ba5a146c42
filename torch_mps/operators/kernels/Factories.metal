// Tensors that are filled with numbers by a rule, and parts of matrices.
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

// A number as bytes, to memory with strides in bytes.
template <typename T>
kernel void fill_dense(
    device T* out [[buffer(0)]],
    constant T& value [[buffer(1)]],
    uint index [[thread_position_in_grid]]) {
  out[index] = value;
}
template <typename T>
kernel void fill_strided(
    device void* out [[buffer(0)]],
    constant T& value [[buffer(1)]],
    constant long* sizes [[buffer(2)]],
    constant long* strides [[buffer(3)]],
    constant uint& ndim [[buffer(4)]],
    uint index [[thread_position_in_grid]]) {
  ref_at_offs<T>(out, offset_from_thread_index(index, sizes, strides, ndim)) = value;
}
#define FILL(BYTES, TYPE)                                                                        \
  template [[host_name("fill_dense_" #BYTES)]] kernel void fill_dense<TYPE>(                     \
      device TYPE*, constant TYPE&, uint);                                                       \
  template [[host_name("fill_strided_" #BYTES)]] kernel void fill_strided<TYPE>(                 \
      device void*, constant TYPE&, constant long*, constant long*, constant uint&, uint)
FILL(1, uchar);
FILL(2, ushort);
FILL(4, uint);
FILL(8, ulong);

// The value where the mask is not 0.
template <typename T>
kernel void masked_fill(
    device void* out [[buffer(0)]],
    constant void* mask [[buffer(1)]],
    constant T& value [[buffer(2)]],
    constant long* sizes [[buffer(3)]],
    constant long* out_strides [[buffer(4)]],
    constant long* mask_strides [[buffer(5)]],
    constant uint& ndim [[buffer(6)]],
    uint index [[thread_position_in_grid]]) {
  int position[max_ndim];
  pos_from_thread_index(int(index), position, sizes, ndim);
  if (val_at_offs<uchar>(mask, offset_from_coord(position, mask_strides, ndim))) {
    ref_at_offs<T>(out, offset_from_coord(position, out_strides, ndim)) = value;
  }
}
#define MASKED_FILL(BYTES, TYPE)                                                            \
  template [[host_name("masked_fill_" #BYTES)]] kernel void masked_fill<TYPE>(              \
      device void*, constant void*, constant TYPE&, constant long*, constant long*,         \
      constant long*, constant uint&, uint)
MASKED_FILL(1, uchar);
MASKED_FILL(2, ushort);
MASKED_FILL(4, uint);
MASKED_FILL(8, ulong);

// One of two by a condition; numbers are only moved, so that their size is all that counts.
template <typename T>
kernel void where_dense(
    device T* out [[buffer(0)]],
    constant uchar* condition [[buffer(1)]],
    constant T* self [[buffer(2)]],
    constant T* other [[buffer(3)]],
    uint index [[thread_position_in_grid]]) {
  out[index] = condition[index] ? self[index] : other[index];
}
template <typename T>
kernel void where_strided(
    device void* out [[buffer(0)]],
    constant void* condition [[buffer(1)]],
    constant void* self [[buffer(2)]],
    constant void* other [[buffer(3)]],
    constant long* sizes [[buffer(4)]],
    constant long* out_strides [[buffer(5)]],
    constant long* condition_strides [[buffer(6)]],
    constant long* self_strides [[buffer(7)]],
    constant long* other_strides [[buffer(8)]],
    constant uint& ndim [[buffer(9)]],
    uint index [[thread_position_in_grid]]) {
  int position[max_ndim];
  pos_from_thread_index(int(index), position, sizes, ndim);
  const bool chosen =
      val_at_offs<uchar>(condition, offset_from_coord(position, condition_strides, ndim)) != 0;
  ref_at_offs<T>(out, offset_from_coord(position, out_strides, ndim)) =
      chosen ? val_at_offs<T>(self, offset_from_coord(position, self_strides, ndim))
             : val_at_offs<T>(other, offset_from_coord(position, other_strides, ndim));
}
#define WHERE(BYTES, TYPE)                                                                      \
  template [[host_name("where_dense_" #BYTES)]] kernel void where_dense<TYPE>(                  \
      device TYPE*, constant uchar*, constant TYPE*, constant TYPE*, uint);                     \
  template [[host_name("where_strided_" #BYTES)]] kernel void where_strided<TYPE>(              \
      device void*, constant void*, constant void*, constant void*, constant long*,             \
      constant long*, constant long*, constant long*, constant long*, constant uint&, uint)
WHERE(1, uchar);
WHERE(2, ushort);
WHERE(4, uint);
WHERE(8, ulong);

// start + index * step, each from where it is exact.
template <typename T, typename A>
kernel void arange(
    device T* out [[buffer(0)]],
    constant A& start [[buffer(1)]],
    constant A& step [[buffer(2)]],
    uint index [[thread_position_in_grid]]) {
  out[index] = T(start + A(index) * step);
}
// From both ends, so that both are exact.
struct LinspaceLimits {
  float start;
  float end;
  float step;
};
template <typename T>
kernel void linspace(
    device T* out [[buffer(0)]],
    constant LinspaceLimits& limits [[buffer(1)]],
    constant uint& steps [[buffer(2)]],
    uint index [[thread_position_in_grid]]) {
  out[index] = index < steps / 2 ? T(limits.start + limits.step * float(index))
                                 : T(limits.end - limits.step * float(steps - 1 - index));
}
// Whole numbers towards zero, without a rounding on the way: start + (end - start) * index / (steps - 1).
template <typename T>
kernel void linspace_whole(
    device T* out [[buffer(0)]],
    constant long2& limits [[buffer(1)]],
    constant uint& steps [[buffer(2)]],
    uint index [[thread_position_in_grid]]) {
  const long parts = max(long(steps) - 1, 1L), distance = limits.y - limits.x;
  const long rest = distance % parts * long(index);
  const long whole = limits.x + distance / parts * long(index) + rest / parts;
  const long left = rest % parts;
  out[index] = T(whole + (whole < 0 && left > 0 ? 1 : whole > 0 && left < 0 ? -1 : 0));
}
kernel void linspace_complex(
    device float2* out [[buffer(0)]],
    constant float2* limits [[buffer(1)]],
    constant uint& steps [[buffer(2)]],
    uint index [[thread_position_in_grid]]) {
  out[index] = index < steps / 2 ? limits[0] + limits[2] * float(index)
                                 : limits[1] - limits[2] * float(steps - 1 - index);
}
template <typename T>
kernel void logspace(
    device T* out [[buffer(0)]],
    constant LinspaceLimits& limits [[buffer(1)]],
    constant float& base [[buffer(2)]],
    constant uint& steps [[buffer(3)]],
    uint index [[thread_position_in_grid]]) {
  const float exponent = index < steps / 2
      ? limits.start + limits.step * float(index)
      : limits.end - limits.step * float(steps - 1 - index);
  out[index] = T(precise::pow(base, exponent));
}

#define ARANGE(TYPE, ACCUMULATED)                                                     \
  template [[host_name("arange_" #TYPE)]] kernel void arange<TYPE, ACCUMULATED>(      \
      device TYPE*, constant ACCUMULATED&, constant ACCUMULATED&, uint)
#define LINSPACE(TYPE)                                                                \
  template [[host_name("linspace_" #TYPE)]] kernel void linspace<TYPE>(               \
      device TYPE*, constant LinspaceLimits&, constant uint&, uint)
#define WHOLE_LINSPACE(TYPE)                                                          \
  template [[host_name("linspace_" #TYPE)]] kernel void linspace_whole<TYPE>(         \
      device TYPE*, constant long2&, constant uint&, uint)
#define LOGSPACE(TYPE)                                                                \
  template [[host_name("logspace_" #TYPE)]] kernel void logspace<TYPE>(               \
      device TYPE*, constant LinspaceLimits&, constant float&, constant uint&, uint)
ARANGE(float, float);
ARANGE(half, float);
ARANGE(bfloat, float);
ARANGE(long, long);
ARANGE(int, long);
ARANGE(short, long);
ARANGE(char, long);
ARANGE(uchar, long);
LINSPACE(float);
LINSPACE(half);
LINSPACE(bfloat);
WHOLE_LINSPACE(long);
WHOLE_LINSPACE(int);
WHOLE_LINSPACE(short);
WHOLE_LINSPACE(char);
WHOLE_LINSPACE(uchar);
LOGSPACE(float);
LOGSPACE(half);
LOGSPACE(bfloat);
LOGSPACE(long);
LOGSPACE(int);
LOGSPACE(short);
LOGSPACE(char);
LOGSPACE(uchar);

// Matrices: 1 on the diagonal; a triangle of the input, 0 elsewhere.
template <typename T>
kernel void eye(
    device T* out [[buffer(0)]],
    constant long2& strides [[buffer(1)]],
    uint index [[thread_position_in_grid]]) {
  out[long(index) * (strides.x + strides.y)] = cast_to<T>(1.0f);
}
struct TriangleShape {
  long rows;
  long columns;
  long diagonal;
  uint ndim;
  bool upper;
};
template <typename T>
kernel void triangle(
    device void* out [[buffer(0)]],
    constant void* input [[buffer(1)]],
    constant TriangleShape& shape [[buffer(2)]],
    constant long* sizes [[buffer(3)]],
    constant long* out_strides [[buffer(4)]],
    constant long* in_strides [[buffer(5)]],
    uint index [[thread_position_in_grid]]) {
  int position[max_ndim];
  pos_from_thread_index(int(index), position, sizes, shape.ndim);
  const long distance = long(position[0]) - long(position[1]);
  const bool inside = shape.upper ? distance >= shape.diagonal : distance <= shape.diagonal;
  const auto in_offset = offset_from_coord(position, in_strides, shape.ndim);
  const auto out_offset = offset_from_coord(position, out_strides, shape.ndim);
  ref_at_offs<T>(out, out_offset) = inside ? val_at_offs<T>(input, in_offset) : T(0);
}
#define TRIANGLE(BYTES, TYPE)                                                             \
  template [[host_name("triangle_" #BYTES)]] kernel void triangle<TYPE>(                  \
      device void*, constant void*, constant TriangleShape&, constant long*, constant long*, \
      constant long*, uint)
TRIANGLE(1, uchar);
TRIANGLE(2, ushort);
TRIANGLE(4, uint);
TRIANGLE(8, ulong);
#define EYE(TYPE) \
  template [[host_name("eye_" #TYPE)]] kernel void eye<TYPE>(device TYPE*, constant long2&, uint)
EYE(float);
EYE(half);
EYE(bfloat);
EYE(long);
EYE(int);
EYE(short);
EYE(char);
EYE(uchar);
EYE(bool);
template [[host_name("eye_float2")]] kernel void eye<float2>(device float2*, constant long2&, uint);
template [[host_name("eye_half2")]] kernel void eye<half2>(device half2*, constant long2&, uint);
