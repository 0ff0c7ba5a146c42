// Common functions (MSL spec §6.3) and min, max, abs, clamp, median3 of every arithmetic type (§6.4, §6.5).
#ifndef METALLOID_COMMON_H
#define METALLOID_COMMON_H

#include <metalloid/math.h>

#define METALLOID_EACH_INTEGER(M) \
  M(char)                         \
  M(signed char)                  \
  M(uchar)                        \
  M(short)                        \
  M(ushort)                       \
  M(int)                          \
  M(uint)                         \
  M(long)                         \
  M(ulong)

namespace metal {

#define METALLOID_INTEGER_ORDER(T)                                                                \
  METALLOID_FUNC constexpr T max(T x, T y) { return x < y ? y : x; }                              \
  METALLOID_FUNC constexpr T min(T x, T y) { return y < x ? y : x; }                              \
  METALLOID_FUNC constexpr T max3(T x, T y, T z) { return max(x, max(y, z)); }                    \
  METALLOID_FUNC constexpr T min3(T x, T y, T z) { return min(x, min(y, z)); }                    \
  METALLOID_FUNC constexpr T median3(T x, T y, T z) { return max(min(x, y), min(max(x, y), z)); } \
  METALLOID_FUNC constexpr T clamp(T x, T low, T high) { return min(max(x, low), high); }         \
  METALLOID_FUNC constexpr T abs(T x) { return x < 0 ? static_cast<T>(-x) : x; }
METALLOID_EACH_INTEGER(METALLOID_INTEGER_ORDER)
#undef METALLOID_INTEGER_ORDER

// With one NaN among the operands, the other operand is the result.
#define METALLOID_FLOATING_ORDER(T, max_of, min_of, copysign_of)                                  \
  METALLOID_FUNC constexpr T max(T x, T y) { return max_of(x, y); }                               \
  METALLOID_FUNC constexpr T min(T x, T y) { return min_of(x, y); }                               \
  METALLOID_FUNC constexpr T max3(T x, T y, T z) { return max(x, max(y, z)); }                    \
  METALLOID_FUNC constexpr T min3(T x, T y, T z) { return min(x, min(y, z)); }                    \
  METALLOID_FUNC constexpr T median3(T x, T y, T z) { return max(min(x, y), min(max(x, y), z)); } \
  METALLOID_FUNC constexpr T clamp(T x, T low, T high) { return min(max(x, low), high); }         \
  METALLOID_FUNC constexpr T abs(T x) { return __builtin_elementwise_abs(x); }                    \
  METALLOID_FUNC constexpr T saturate(T x) { return clamp(x, T(0), T(1)); }                       \
  METALLOID_FUNC constexpr T mix(T x, T y, T a) { return x + (y - x) * a; }                       \
  METALLOID_FUNC constexpr T sign(T x) { return x == x ? copysign_of(T(x != T(0)), x) : T(0); }   \
  METALLOID_FUNC constexpr T step(T edge, T x) { return x < edge ? T(0) : T(1); }                 \
  METALLOID_FUNC constexpr T smoothstep(T low, T high, T x) {                                     \
    const T t = clamp((x - low) / (high - low), T(0), T(1));                                      \
    return t * t * (T(3) - T(2) * t);                                                             \
  }
METALLOID_FLOATING_ORDER(float, __builtin_fmaxf, __builtin_fminf, __builtin_copysignf)
METALLOID_FLOATING_ORDER(half, __builtin_fmaxf16, __builtin_fminf16, __builtin_copysignf16)
#undef METALLOID_FLOATING_ORDER

METALLOID_WHOLE_2(max, number_result_t, __metalloid::whole_max)
METALLOID_WHOLE_2(min, number_result_t, __metalloid::whole_min)
METALLOID_MIXED_3(max3, number_result_t)
METALLOID_MIXED_3(min3, number_result_t)
METALLOID_MIXED_3(median3, number_result_t)
METALLOID_WHOLE_3(clamp, number_result_t, __metalloid::whole_clamp)
METALLOID_WHOLE_1(abs, vector_result_t, __metalloid::whole_abs)
METALLOID_MIXED_1(saturate, float_result_t)
METALLOID_MIXED_3(mix, float_result_t)
METALLOID_MIXED_1(sign, floating_vector_result_t)
METALLOID_MIXED_2(step, float_result_t)
METALLOID_MIXED_3(smoothstep, float_result_t)

METALLOID_PRECISE_AND_FAST(
    METALLOID_FUNC constexpr float max(float x, float y) {
      return metal::max(x, y);
    } METALLOID_FUNC constexpr float min(float x, float y) {
      return metal::min(x, y);
    } METALLOID_FUNC constexpr float max3(float x, float y, float z) {
      return metal::max3(x, y, z);
    } METALLOID_FUNC constexpr float min3(float x, float y, float z) {
      return metal::min3(x, y, z);
    } METALLOID_FUNC constexpr float median3(float x, float y, float z) {
      return metal::median3(x, y, z);
    } METALLOID_FUNC constexpr float clamp(float x, float low, float high) {
      return metal::clamp(x, low, high);
    } METALLOID_FUNC constexpr float abs(float x) {
      return metal::abs(x);
    } METALLOID_FUNC constexpr float saturate(float x) {
      return metal::saturate(x);
    } METALLOID_FUNC constexpr float mix(float x, float y, float a) {
      return metal::mix(x, y, a);
    } METALLOID_FUNC constexpr float sign(float x) {
      return metal::sign(x);
    } METALLOID_FUNC constexpr float step(float edge, float x) {
      return metal::step(edge, x);
    } METALLOID_FUNC constexpr float smoothstep(float low, float high, float x) {
      return metal::smoothstep(low, high, x);
    } METALLOID_WHOLE_2(max, vector_result_t, __metalloid::whole_max)
        METALLOID_WHOLE_2(min, vector_result_t, __metalloid::whole_min) METALLOID_MIXED_3(max3, vector_result_t)
            METALLOID_MIXED_3(min3, vector_result_t) METALLOID_MIXED_3(median3, vector_result_t)
                METALLOID_WHOLE_3(clamp, vector_result_t, __metalloid::whole_clamp)
                    METALLOID_WHOLE_1(abs, vector_result_t, __metalloid::whole_abs)
                        METALLOID_MIXED_1(saturate, vector_result_t) METALLOID_MIXED_3(mix, vector_result_t)
                            METALLOID_MIXED_1(sign, floating_vector_result_t) METALLOID_MIXED_2(step, vector_result_t)
                                METALLOID_MIXED_3(smoothstep, vector_result_t))

}  // namespace metal

#endif
