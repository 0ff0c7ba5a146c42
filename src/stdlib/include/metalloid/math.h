// Math functions (MSL spec §6.5). Float functions become LLVM intrinsics; half functions compute in float and round
// once. metal::precise and metal::fast know float (and its vectors) only.
#ifndef METALLOID_MATH_H
#define METALLOID_MATH_H

#include <metalloid/math_scalar.h>
#include <metalloid/promote.h>

#define METALLOID_UNARY(name, expression)                           \
  METALLOID_FUNC float name(float x) { return expression; }         \
  METALLOID_FUNC half name(half x) { return half(name(float(x))); } \
  METALLOID_MIXED_1(name, float_result_t)                           \
  METALLOID_PRECISE_AND_FAST(                                       \
      METALLOID_FUNC float name(float x) { return metal::name(x); } METALLOID_MIXED_1(name, vector_result_t))
#define METALLOID_BINARY(name, expression)                                            \
  METALLOID_FUNC float name(float x, float y) { return expression; }                  \
  METALLOID_FUNC half name(half x, half y) { return half(name(float(x), float(y))); } \
  METALLOID_MIXED_2(name, float_result_t)                                             \
  METALLOID_PRECISE_AND_FAST(METALLOID_FUNC float name(float x, float y) {            \
    return metal::name(x, y);                                                         \
  } METALLOID_MIXED_2(name, vector_result_t))
// Functions that Clang has for whole vectors.
#define METALLOID_UNARY_WHOLE(name, builtin)                        \
  METALLOID_FUNC float name(float x) { return builtin(x); }         \
  METALLOID_FUNC half name(half x) { return half(name(float(x))); } \
  METALLOID_WHOLE_1(name, float_result_t, builtin)                  \
  METALLOID_PRECISE_AND_FAST(                                       \
      METALLOID_FUNC float name(float x) { return metal::name(x); } METALLOID_WHOLE_1(name, vector_result_t, builtin))
#define METALLOID_TERNARY(name, expression)                                                             \
  METALLOID_FUNC float name(float x, float y, float z) { return expression; }                           \
  METALLOID_FUNC half name(half x, half y, half z) { return half(name(float(x), float(y), float(z))); } \
  METALLOID_MIXED_3(name, float_result_t)                                                               \
  METALLOID_PRECISE_AND_FAST(METALLOID_FUNC float name(float x, float y, float z) {                     \
    return metal::name(x, y, z);                                                                        \
  } METALLOID_MIXED_3(name, vector_result_t))
#define METALLOID_PRECISE_AND_FAST(...) \
  namespace precise {                   \
  __VA_ARGS__                           \
  }                                     \
  namespace fast {                      \
  __VA_ARGS__                           \
  }

namespace metal {

METALLOID_UNARY(acos, __builtin_elementwise_acos(x))
METALLOID_UNARY(acosh, __metalloid::acosh(x))
METALLOID_UNARY(asin, __builtin_elementwise_asin(x))
METALLOID_UNARY(asinh, __metalloid::asinh(x))
METALLOID_UNARY(atan, __builtin_elementwise_atan(x))
METALLOID_UNARY(atanh, __metalloid::atanh(x))
METALLOID_UNARY_WHOLE(ceil, __builtin_elementwise_ceil)
METALLOID_UNARY(cos, __builtin_elementwise_cos(x))
METALLOID_UNARY(cosh, __builtin_elementwise_cosh(x))
METALLOID_UNARY(cospi, __metalloid::cospi(x))
METALLOID_UNARY(exp, __builtin_elementwise_exp(x))
METALLOID_UNARY(exp2, __builtin_elementwise_exp2(x))
METALLOID_UNARY(exp10, __builtin_elementwise_exp10(x))
METALLOID_UNARY_WHOLE(fabs, __builtin_elementwise_abs)
METALLOID_UNARY_WHOLE(floor, __builtin_elementwise_floor)
METALLOID_UNARY(log, __builtin_elementwise_log(x))
METALLOID_UNARY(log2, __builtin_elementwise_log2(x))
METALLOID_UNARY(log10, __builtin_elementwise_log10(x))
METALLOID_UNARY_WHOLE(rint, __builtin_elementwise_rint)
METALLOID_UNARY_WHOLE(round, __builtin_elementwise_round)
METALLOID_UNARY(rsqrt, __metalloid::rsqrt(x))
METALLOID_UNARY(sin, __builtin_elementwise_sin(x))
METALLOID_UNARY(sinh, __builtin_elementwise_sinh(x))
METALLOID_UNARY(sinpi, __metalloid::sinpi(x))
METALLOID_UNARY_WHOLE(sqrt, __builtin_elementwise_sqrt)
METALLOID_UNARY(tan, __builtin_elementwise_tan(x))
METALLOID_UNARY(tanh, __builtin_elementwise_tanh(x))
METALLOID_UNARY(tanpi, __metalloid::tanpi(x))
METALLOID_UNARY_WHOLE(trunc, __builtin_elementwise_trunc)

METALLOID_BINARY(atan2, __builtin_elementwise_atan2(x, y))
METALLOID_BINARY(copysign, __builtin_elementwise_copysign(x, y))
METALLOID_BINARY(divide, x / y)
METALLOID_BINARY(fdim, __metalloid::fdim(x, y))
METALLOID_BINARY(fmod, __builtin_elementwise_fmod(x, y))
METALLOID_BINARY(pow, __builtin_elementwise_pow(x, y))
METALLOID_BINARY(powr, __metalloid::powr(x, y))

METALLOID_FUNC float fmax(float x, float y) { return __builtin_fmaxf(x, y); }
METALLOID_FUNC half fmax(half x, half y) { return __builtin_fmaxf16(x, y); }
METALLOID_WHOLE_2(fmax, float_result_t, __metalloid::whole_max)
METALLOID_FUNC float fmin(float x, float y) { return __builtin_fminf(x, y); }
METALLOID_FUNC half fmin(half x, half y) { return __builtin_fminf16(x, y); }
METALLOID_WHOLE_2(fmin, float_result_t, __metalloid::whole_min)
METALLOID_PRECISE_AND_FAST(
    METALLOID_FUNC float fmax(float x, float y) {
      return metal::fmax(x, y);
    } METALLOID_WHOLE_2(fmax, vector_result_t, __metalloid::whole_max) METALLOID_FUNC float fmin(float x, float y) {
      return metal::fmin(x, y);
    } METALLOID_WHOLE_2(fmin, vector_result_t, __metalloid::whole_min))

METALLOID_TERNARY(fmax3, fmax(x, fmax(y, z)))
METALLOID_TERNARY(fmin3, fmin(x, fmin(y, z)))
METALLOID_TERNARY(fmedian3, fmax(fmin(x, y), fmin(fmax(x, y), z)))

// Rounded once in their own type: a float result rounded to half again could be off, or reach 1.
METALLOID_FUNC float fma(float x, float y, float z) { return __builtin_elementwise_fma(x, y, z); }
METALLOID_FUNC half fma(half x, half y, half z) { return __builtin_elementwise_fma(x, y, z); }
METALLOID_WHOLE_3(fma, float_result_t, __builtin_elementwise_fma)
METALLOID_FUNC float fract(float x) { return __metalloid::fract(x, 0x1.fffffep-1f); }
METALLOID_FUNC half fract(half x) { return __metalloid::fract(x, half(0x1.ffcp-1f)); }
METALLOID_MIXED_1(fract, float_result_t)
METALLOID_FUNC float nextafter(float x, float y) { return __metalloid::nextafter<uint>(x, y); }
METALLOID_FUNC half nextafter(half x, half y) { return __metalloid::nextafter<ushort>(x, y); }
METALLOID_MIXED_2(nextafter, float_result_t)
METALLOID_PRECISE_AND_FAST(
    METALLOID_FUNC float fma(float x, float y, float z) {
      return metal::fma(x, y, z);
    } METALLOID_WHOLE_3(fma, vector_result_t, __builtin_elementwise_fma) METALLOID_FUNC float fract(float x) {
      return metal::fract(x);
    } METALLOID_MIXED_1(fract, vector_result_t) METALLOID_FUNC float nextafter(float x, float y) {
      return metal::nextafter(x, y);
    } METALLOID_MIXED_2(nextafter, vector_result_t))

// Functions with integer arguments or results, or with a second result.
METALLOID_FUNC int ilogb(float x) { return __metalloid::ilogb(x); }
METALLOID_FUNC int ilogb(half x) { return __metalloid::ilogb(float(x)); }
METALLOID_FUNC float ldexp(float x, int k) { return __metalloid::ldexp(x, k); }
METALLOID_FUNC half ldexp(half x, int k) { return __metalloid::ldexp(x, k); }
METALLOID_FUNC float frexp(float x, int& exponent) { return __metalloid::frexp(x, exponent); }
METALLOID_FUNC half frexp(half x, int& exponent) { return half(__metalloid::frexp(float(x), exponent)); }
METALLOID_FUNC float modf(float x, float& integral) { return __metalloid::modf(x, integral); }
METALLOID_FUNC half modf(half x, half& integral) { return __metalloid::modf(x, integral); }
METALLOID_FUNC float sincos(float x, float& cosine) {
  cosine = cos(x);
  return sin(x);
}
METALLOID_FUNC half sincos(half x, half& cosine) {
  cosine = cos(x);
  return sin(x);
}

template <typename T, int N>
METALLOID_FUNC vec<int, N> ilogb(vec<T, N> x) {
  vec<int, N> result;
  for (int i = 0; i < N; ++i) result[i] = ilogb(x[i]);
  return result;
}
template <typename T, int N>
METALLOID_FUNC vec<T, N> ldexp(vec<T, N> x, vec<int, N> k) {
  vec<T, N> result;
  for (int i = 0; i < N; ++i) result[i] = T(ldexp(x[i], k[i]));
  return result;
}
template <typename T, int N>
METALLOID_FUNC vec<T, N> ldexp(vec<T, N> x, int k) {
  return ldexp(x, vec<int, N>(k));
}
template <typename T, int N>
METALLOID_FUNC vec<T, N> frexp(vec<T, N> x, vec<int, N>& exponent) {
  vec<T, N> result;
  for (int i = 0; i < N; ++i) result[i] = T(frexp(x[i], exponent[i]));
  return result;
}
template <typename T, int N>
METALLOID_FUNC vec<T, N> modf(vec<T, N> x, vec<T, N>& integral) {
  integral = trunc(x);
  vec<T, N> result;
  float whole;
  for (int i = 0; i < N; ++i) result[i] = T(__metalloid::modf(float(x[i]), whole));
  return result;
}
template <typename T, int N>
METALLOID_FUNC vec<T, N> sincos(vec<T, N> x, vec<T, N>& cosine) {
  cosine = cos(x);
  return sin(x);
}

namespace precise {
using metal::frexp;
using metal::ilogb;
using metal::ldexp;
using metal::modf;
using metal::sincos;
}  // namespace precise
namespace fast {
using metal::frexp;
using metal::ilogb;
using metal::ldexp;
using metal::modf;
using metal::sincos;
}  // namespace fast

}  // namespace metal

#undef METALLOID_UNARY
#undef METALLOID_UNARY_WHOLE
#undef METALLOID_BINARY
#undef METALLOID_TERNARY

#endif
