// Scalar math that LLVM has no intrinsic for, or not to MSL's accuracy (spec §8.4). `double` exists only here:
// one double operation rounded to float is the shortest way to a correctly rounded result.
#ifndef METALLOID_MATH_SCALAR_H
#define METALLOID_MATH_SCALAR_H

#include <metalloid/constants.h>

// First in a function whose formulas fast math must not rearrange.
#define METALLOID_AS_WRITTEN _Pragma("clang fp reassociate(off) reciprocal(off) contract(off)")

namespace __metalloid {

METALLOID_FUNC float rsqrt(float x) {
  METALLOID_AS_WRITTEN
  // 1 - x y y, exactly but for its own rounding, corrects the last bit; zeros, infinities and NaN need no correction.
  const float y = 1.0f / __builtin_elementwise_sqrt(x);
  const float root = x * y, lost = __builtin_elementwise_fma(x, y, -root);
  const float e = __builtin_elementwise_fma(-lost, y, __builtin_elementwise_fma(-root, y, 1.0f));
  const float half_e = __builtin_elementwise_fma(0.375f * e, e, 0.5f * e);
  return __builtin_elementwise_abs(half_e) < 1.0f ? __builtin_elementwise_fma(y, half_e, y) : y;
}

METALLOID_FUNC float fdim(float x, float y) { return x > y ? x - y : (x <= y ? 0.0f : x + y); }

// exp(y log(x)): what is undefined of that is NaN, and both zeros are one (C23 F.10.4.7).
METALLOID_FUNC float powr(float x, float y) {
  const float result = __builtin_elementwise_pow(__builtin_elementwise_abs(x), y);
  const bool undefined = (y == 0.0f && (x == 0.0f || x == INFINITY)) ||
                         (x == 1.0f && __builtin_elementwise_abs(y) == INFINITY) || !(x >= 0.0f) || y != y;
  return undefined ? NAN : result;
}

// Never 1, although x - floor(x) rounds to it for tiny negative x. Infinity gives NaN.
template <typename T>
METALLOID_FUNC T fract(T x, T largest) {
  METALLOID_AS_WRITTEN
  const T rest = x - __builtin_elementwise_floor(x);
  return rest > largest ? largest : rest;
}

// x reduced to [-1, 1] by a multiple of 2, exactly; then sin(pi * x) on the quarter where it is well conditioned.
METALLOID_FUNC float reduce_half_turns(float x) {
  METALLOID_AS_WRITTEN
  return __builtin_elementwise_fma(-2.0f, __builtin_elementwise_rint(x * 0.5f), x);
}
METALLOID_FUNC float sinpi(float x) {
  METALLOID_AS_WRITTEN
  const float reduced = reduce_half_turns(x);
  const float turn = __builtin_elementwise_abs(reduced);
  const float folded = turn > 0.5f ? 1.0f - turn : turn;
  const float result = folded <= 0.25f ? __builtin_elementwise_sin(M_PI_F * folded)
                                       : __builtin_elementwise_cos(M_PI_F * (0.5f - folded));
  return __builtin_elementwise_copysign(result, folded == 0.0f ? x : reduced);  // a zero has the argument's sign
}
METALLOID_FUNC float cospi(float x) {
  METALLOID_AS_WRITTEN
  const float turn = __builtin_elementwise_abs(reduce_half_turns(x));
  const float folded = turn > 0.5f ? 1.0f - turn : turn;
  const float result = folded <= 0.25f ? __builtin_elementwise_cos(M_PI_F * folded)
                                       : __builtin_elementwise_sin(M_PI_F * (0.5f - folded));
  return turn > 0.5f ? -result : result;
}
METALLOID_FUNC float tanpi(float x) { return sinpi(x) / cospi(x); }

// log(1 + t) for t >= 0 without losing the digits of a small t.
METALLOID_FUNC float log1p(float t) {
  METALLOID_AS_WRITTEN
  const float u = 1.0f + t;
  const float lost = (t - (u - 1.0f)) / u;
  return u == INFINITY ? u : __builtin_elementwise_log(u) + lost;
}
METALLOID_FUNC float asinh(float x) {
  METALLOID_AS_WRITTEN
  const float a = __builtin_elementwise_abs(x);
  const float square = a * a;
  const float result = a > 0x1p28f ? __builtin_elementwise_log(a) + M_LN2_F
                                   : log1p(a + square / (1.0f + __builtin_elementwise_sqrt(1.0f + square)));
  return __builtin_elementwise_copysign(result, x);
}
METALLOID_FUNC float acosh(float x) {
  METALLOID_AS_WRITTEN
  const float t = x - 1.0f;
  if (x < 1.0f) return NAN;
  return x > 0x1p28f ? __builtin_elementwise_log(x) + M_LN2_F : log1p(t + __builtin_elementwise_sqrt(2.0f * t + t * t));
}
METALLOID_FUNC float atanh(float x) {
  METALLOID_AS_WRITTEN
  const float a = __builtin_elementwise_abs(x);
  return __builtin_elementwise_copysign(0.5f * log1p(2.0f * a / (1.0f - a)), x);
}

// x * 2^k, rounded once: the product is exact in double for every k that matters.
METALLOID_FUNC float ldexp(float x, int k) {
  const int bounded = k < -400 ? -400 : k > 400 ? 400 : k;
  return float(double(x) * __builtin_bit_cast(double, ulong(1023 + bounded) << 52));
}
METALLOID_FUNC half ldexp(half x, int k) {
  const int bounded = k < -100 ? -100 : k > 100 ? 100 : k;
  return half(float(x) * __builtin_bit_cast(float, uint(127 + bounded) << 23));
}

// A denormal is scaled up so that its exponent can be read.
METALLOID_FUNC int ilogb(float x) {
  const float a = __builtin_elementwise_abs(x);
  if (a == 0.0f) return FP_ILOGB0;
  if (!(a < INFINITY)) return a == INFINITY ? INT_MAX : FP_ILOGBNAN;
  const bool denormal = a < FLT_MIN;
  const uint bits = __builtin_bit_cast(uint, denormal ? a * 0x1p32f : a);
  return int(bits >> 23) - (denormal ? 127 + 32 : 127);
}
METALLOID_FUNC float frexp(float x, int& exponent) {
  const float a = __builtin_elementwise_abs(x);
  if (a == 0.0f || !(a < INFINITY)) {
    exponent = 0;
    return x;
  }
  const bool denormal = a < FLT_MIN;
  const uint bits = __builtin_bit_cast(uint, denormal ? x * 0x1p32f : x);
  exponent = int((bits >> 23) & 0xffu) - (denormal ? 126 + 32 : 126);
  return __builtin_bit_cast(float, (bits & 0x807fffffu) | (126u << 23));
}
template <typename T>
METALLOID_FUNC T modf(T x, T& integral) {
  integral = __builtin_elementwise_trunc(x);
  const T rest = __builtin_elementwise_abs(x) == T(INFINITY) ? T(0) : x - integral;
  return __builtin_elementwise_copysign(rest, x);
}

// The neighbour in y's direction: one step of the bits taken as sign and magnitude.
template <typename Bits, typename T>
METALLOID_FUNC T nextafter(T x, T y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == T(0)) return __builtin_elementwise_copysign(__builtin_bit_cast(T, Bits(1)), y);
  const Bits bits = __builtin_bit_cast(Bits, x);
  const bool away_from_zero = (x < y) == (x > T(0));
  return __builtin_bit_cast(T, Bits(away_from_zero ? bits + 1 : bits - 1));
}

}  // namespace __metalloid

#endif
