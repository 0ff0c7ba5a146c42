// Math functions (MSL spec §6.5) of bfloat, which Metal lacks and MLX adds to every kernel: computed in float, rounded
// once.
#ifndef METALLOID_MLX_BFLOAT_MATH_H
#define METALLOID_MLX_BFLOAT_MATH_H

#include <metal_math>
#include <metal_stdlib>

#define METALLOID_1(name) \
  METALLOID_FUNC bfloat name(bfloat x) { return bfloat(name(float(x))); }
#define METALLOID_2(name) \
  METALLOID_FUNC bfloat name(bfloat x, bfloat y) { return bfloat(name(float(x), float(y))); }
#define METALLOID_3(name) \
  METALLOID_FUNC bfloat name(bfloat x, bfloat y, bfloat z) { return bfloat(name(float(x), float(y), float(z))); }

#define METALLOID_BFLOAT_MATH                                                                 \
  METALLOID_1(abs)                                                                            \
  METALLOID_1(acos)                                                                           \
  METALLOID_1(acosh)                                                                          \
  METALLOID_1(asin)                                                                           \
  METALLOID_1(asinh)                                                                          \
  METALLOID_1(atan)                                                                           \
  METALLOID_1(atanh)                                                                          \
  METALLOID_1(ceil)                                                                           \
  METALLOID_1(cos)                                                                            \
  METALLOID_1(cosh)                                                                           \
  METALLOID_1(cospi)                                                                          \
  METALLOID_1(exp)                                                                            \
  METALLOID_1(exp10)                                                                          \
  METALLOID_1(exp2)                                                                           \
  METALLOID_1(fabs)                                                                           \
  METALLOID_1(floor)                                                                          \
  METALLOID_1(log)                                                                            \
  METALLOID_1(log10)                                                                          \
  METALLOID_1(log2)                                                                           \
  METALLOID_1(rint)                                                                           \
  METALLOID_1(round)                                                                          \
  METALLOID_1(rsqrt)                                                                          \
  METALLOID_1(sin)                                                                            \
  METALLOID_1(sinh)                                                                           \
  METALLOID_1(sinpi)                                                                          \
  METALLOID_1(sqrt)                                                                           \
  METALLOID_1(tan)                                                                            \
  METALLOID_1(tanh)                                                                           \
  METALLOID_1(tanpi)                                                                          \
  METALLOID_1(trunc)                                                                          \
  METALLOID_2(atan2)                                                                          \
  METALLOID_2(copysign)                                                                       \
  METALLOID_2(divide)                                                                         \
  METALLOID_2(fdim)                                                                           \
  METALLOID_2(fmax)                                                                           \
  METALLOID_2(fmin)                                                                           \
  METALLOID_2(fmod)                                                                           \
  METALLOID_2(max)                                                                            \
  METALLOID_2(min)                                                                            \
  METALLOID_2(pow)                                                                            \
  METALLOID_2(powr)                                                                           \
  METALLOID_3(fma)                                                                            \
  METALLOID_3(fmax3)                                                                          \
  METALLOID_3(fmedian3)                                                                       \
  METALLOID_3(fmin3)                                                                          \
  METALLOID_3(max3)                                                                           \
  METALLOID_3(median3)                                                                        \
  METALLOID_3(min3)                                                                           \
  /* Stays below 1, as floats do: 0x1.fep-1 is the bfloat in front of it. */                  \
  METALLOID_FUNC bfloat fract(bfloat x) { return bfloat(fmin(fract(float(x)), 0x1.fep-1f)); } \
  METALLOID_FUNC bfloat ldexp(bfloat x, int k) { return bfloat(ldexp(float(x), k)); }         \
  METALLOID_FUNC bfloat frexp(bfloat x, thread int& k) { return bfloat(frexp(float(x), k)); } \
  METALLOID_FUNC bfloat modf(bfloat x, thread bfloat& integral) {                             \
    float whole;                                                                              \
    const float rest = modf(float(x), whole);                                                 \
    integral = bfloat(whole);                                                                 \
    return bfloat(rest);                                                                      \
  }                                                                                           \
  METALLOID_FUNC bfloat sincos(bfloat x, thread bfloat& cosine) {                             \
    cosine = cos(x);                                                                          \
    return sin(x);                                                                            \
  }                                                                                           \
  METALLOID_FUNC bfloat nextafter(bfloat x, bfloat y) { return __metalloid::bfloat_after(x, y); }

namespace __metalloid {

METALLOID_FUNC bfloat bfloat_after(bfloat from, bfloat to) {
  const float x = float(from), y = float(to);
  if (x != x || y != y) return bfloat(x + y);
  if (x == y) return to;
  const ushort bits = as_type<ushort>(from);
  if (x == 0.0f) return as_type<bfloat>(ushort((as_type<ushort>(to) & 0x8000) | 1));
  const bool away_from_zero = (x < y) == (x > 0.0f);
  return as_type<bfloat>(ushort(away_from_zero ? bits + 1 : bits - 1));
}

}  // namespace __metalloid

namespace metal {

METALLOID_BFLOAT_MATH

namespace precise {
METALLOID_BFLOAT_MATH
}
namespace fast {
METALLOID_BFLOAT_MATH
}

}  // namespace metal

#undef METALLOID_BFLOAT_MATH
#undef METALLOID_1
#undef METALLOID_2
#undef METALLOID_3

#endif
