// The gamma function and its relatives, in float: gamma, log_gamma, digamma, trigamma, polygamma, zeta.
#ifndef METALLOID_SPECIAL_GAMMA_H
#define METALLOID_SPECIAL_GAMMA_H

#include <metal_stdlib>

#include <metalloid/special_series.h>

namespace __metalloid {

METALLOID_FUNC bool is_whole(float x) { return metal::floor(x) == x; }

// log_gamma(x) - ((x - 1/2) log(x) - x + log(2 pi) / 2), x >= 8 (Stirling).
METALLOID_FUNC float stirling_correction(float x) {
  const float inverse = 1.0f / x, square = inverse * inverse;
  return inverse * metal::fma(square, metal::fma(square, 7.93650794e-4f, -2.77777778e-3f), 8.33333333e-2f);
}

// x > 0.
inline float log_gamma_positive(float x) {
  if (x >= 8.0f) {
    if (x > 4.0e36f) return INFINITY;
    const float log_x = metal::precise::log(x);
    return metal::fma(x - 0.5f, log_x - 1.0f, 0.418938533f) + stirling_correction(x);
  }
  float shift = 0;
  if (x < 0.5f) {
    shift = -metal::precise::log(x);
    x += 1.0f;
  } else if (x > 3.0f) {
    float product = 1;
    while (x > 3.0f) {
      x -= 1.0f;
      product *= x;
    }
    shift = metal::precise::log(product);
  }
  return shift + (x - 1.0f) * (x - 2.0f) * chebyshev(series::log_gamma_centre, 0.8f * x - 1.4f);
}

// x >= 0.5.
inline float gamma_positive(float x) {
  if (x > 35.05f) return INFINITY;
  float product = 1, divisor = 1;
  while (x > 2.0f) {
    x -= 1.0f;
    product *= x;
  }
  if (x < 1.0f) {
    divisor = x;
    x += 1.0f;
  }
  return product * chebyshev(series::gamma_centre, 2.0f * x - 3.0f) / divisor;
}

// cot(pi x).
METALLOID_FUNC float cotangent_of_pi(float x) { return metal::precise::cospi(x) / metal::precise::sinpi(x); }

}  // namespace __metalloid

namespace c10 {
namespace metal {

// log|gamma(x)|; infinite at 0, -1, -2, ...
template <typename T>
inline float log_gamma(const T value) {
  const float x = static_cast<float>(value);
  if (x != x) return x;
  if (::metal::abs(x) == INFINITY) return INFINITY;
  if (x > 0) return __metalloid::log_gamma_positive(x);
  if (__metalloid::is_whole(x)) return INFINITY;
  if (x > -1e-10f) return -::metal::precise::log(-x);
  const float sine = ::metal::abs(::metal::precise::sinpi(x));
  return 1.14472988f - ::metal::precise::log(sine) - __metalloid::log_gamma_positive(1.0f - x);  // log(pi)
}

// Infinite with the sign of a zero; NaN at -1, -2, ...
template <typename T>
inline float gamma(const T value) {
  const float x = static_cast<float>(value);
  if (x == 0) return ::metal::copysign(INFINITY, x);
  if (x >= 0.5f) return __metalloid::gamma_positive(x);
  if (x != x || x == -INFINITY || (x < 0 && __metalloid::is_whole(x))) return NAN;
  if (x > 0) return __metalloid::gamma_positive(x + 1.0f) / x;
  const float sine = ::metal::precise::sinpi(x);
  if (x < -34.0f) {  // gamma(1 - x) alone would overflow
    const float size = M_PI_F / __metalloid::gamma_positive(1.0f - x - 8.0f);
    float quotient = size / sine;
    for (float k = 1; k <= 8; k += 1) quotient /= 1.0f - x - k;
    return quotient;
  }
  return M_PI_F / (sine * __metalloid::gamma_positive(1.0f - x));
}

// Hurwitz: the sum of 1 / (q + k)^x over k >= 0, by Euler and Maclaurin. NaN below x = 1, infinite at x = 1 and at
// q = 0, -1, -2, ...
inline float zeta(float x, float q) {
  if (x == 1.0f) return INFINITY;
  if (!(x > 1.0f)) return NAN;
  if (q <= 0) {
    if (__metalloid::is_whole(q)) return INFINITY;
    if (!__metalloid::is_whole(x)) return NAN;  // a power of a negative number
  }
  float sum = 0;
  float term = 0;
  float base = q;
  for (int k = 0; k < 9 || base <= 9.0f; ++k, base += 1.0f) {
    term = base < 0 && ::metal::fmod(x, 2.0f) != 0 ? -::metal::precise::pow(-base, x)
                                                   : ::metal::precise::pow(::metal::abs(base), x);
    term = 1.0f / term;
    sum += term;
    if (::metal::abs(term) < 6e-8f * ::metal::abs(sum) && base > 0) return sum;
  }
  // The terms from `base` on: an integral, half a term, and derivatives with Bernoulli's numbers.
  const float power = ::metal::precise::pow(base, -x);
  sum += power * (base / (x - 1.0f) + 0.5f);
  const float bernoulli[5] = {8.33333333e-2f, -1.38888889e-3f, 3.30687831e-5f, -8.26719577e-7f, 2.08767570e-8f};
  float factor = x * power / base;
  for (int k = 0; k < 5; ++k) {
    const float correction = bernoulli[k] * factor;
    sum += correction;
    if (::metal::abs(correction) < 3e-8f * ::metal::abs(sum)) break;
    factor *= (x + float(2 * k + 1)) * (x + float(2 * k + 2)) / (base * base);
  }
  return sum;
}

// The derivative of log_gamma.
template <typename T>
inline float digamma(T value) {
  float x = static_cast<float>(value);
  if (x == 0) return ::metal::copysign(INFINITY, -x);
  float sum = 0;
  if (x < 0) {
    if (__metalloid::is_whole(x)) return NAN;
    sum = -M_PI_F * __metalloid::cotangent_of_pi(x - ::metal::trunc(x));
    x = 1.0f - x;
  }
  for (; x < 10.0f; x += 1.0f) sum -= 1.0f / x;
  if (x == INFINITY) return INFINITY;
  const float square = 1.0f / (x * x);
  const float tail =
      square * ::metal::fma(square, ::metal::fma(square, 3.96825397e-3f, -8.33333333e-3f), 8.33333333e-2f);
  return sum + ::metal::precise::log(x) - 0.5f / x - tail;
}

// The second derivative of log_gamma.
template <typename T>
inline float trigamma(T value) {
  float x = static_cast<float>(value);
  float sum = 0, sign = 1;
  if (x < 0.5f) {  // the sum of x and 1 - x is (pi / sin(pi x))^2
    const float quotient = M_PI_F / ::metal::precise::sinpi(x);
    sum = quotient * quotient;
    sign = -1;
    x = 1.0f - x;
  }
  float rest = 0;
  for (; x < 8.0f; x += 1.0f) rest += 1.0f / (x * x);
  const float inverse = 1.0f / x, square = inverse * inverse;
  const float tail = ::metal::fma(
      square, ::metal::fma(square, ::metal::fma(square, 2.38095238e-2f, -3.33333333e-2f), 1.66666667e-1f), 1.0f);
  return sum + sign * (rest + 0.5f * square + inverse * tail);
}

// The derivative of digamma of that order: (-1)^(n + 1) n! zeta(n + 1, x).
template <typename T>
inline float polygamma(const int64_t order, const T value) {
  const float n = float(order), x = static_cast<float>(value);
  const float size = gamma(n + 1.0f) * zeta(n + 1.0f, x);
  return order % 2 == 0 ? -size : size;
}

}  // namespace metal
}  // namespace c10

#endif
