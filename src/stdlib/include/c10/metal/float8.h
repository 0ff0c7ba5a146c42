// 8-bit floats with 4 exponent and 3 mantissa bits, bias 7, no infinities (OCP 8-bit Floating Point, E4M3).
#ifndef METALLOID_C10_METAL_FLOAT8_H
#define METALLOID_C10_METAL_FLOAT8_H

#include <metal_stdlib>

namespace c10 {
namespace metal {
namespace detail {

METALLOID_FUNC float fp8e4m3fn_to_fp32(uchar input) {
  const uint magnitude = input & 0x7F;
  const uint sign = uint(input & 0x80) << 24;
  if (magnitude == 0x7F) return as_type<float>(sign | 0x7FC00000);
  if (magnitude < 8) {  // subnormal: units of 2^-9
    const float value = float(magnitude) * 0x1p-9f;
    return sign ? -value : value;
  }
  return as_type<float>(sign | ((magnitude << 20) + ((127u - 7u) << 23)));
}

// Rounds to nearest, ties to even; what is beyond 448, the largest, becomes 448. Only NaN becomes NaN.
METALLOID_FUNC uchar fp8e4m3fn_from_fp32(float value) {
  const uint bits = as_type<uint>(value);
  const uchar sign = uchar(bits >> 24) & 0x80;
  const uint magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return sign | 0x7F;
  if (magnitude > as_type<uint>(448.0f)) return sign | 0x7E;
  if (magnitude < ((127u - 6u) << 23)) {  // below 2^-6: adding 2^14 leaves units of 2^-9
    const float shifted = as_type<float>(magnitude) + 0x1p14f;
    return sign | uchar(as_type<uint>(shifted) - as_type<uint>(0x1p14f));
  }
  const uint odd = (magnitude >> 20) & 1;
  const uint rounded = (magnitude + 0x7FFFF + odd) >> 20;
  return sign | uchar(rounded - ((127u - 7u) << 3));
}

}  // namespace detail

struct alignas(1) float8_e4m3fn {
  uchar x;

  float8_e4m3fn() = default;
  template <typename T>
  METALLOID_FUNC float8_e4m3fn(T value) : x(detail::fp8e4m3fn_from_fp32(float(value))) {}
  METALLOID_FUNC operator float() const { return detail::fp8e4m3fn_to_fp32(x); }
};

template <typename T>
constexpr constant bool is_float8_v = ::metal::is_same_v<T, float8_e4m3fn>;

}  // namespace metal
}  // namespace c10

#endif
