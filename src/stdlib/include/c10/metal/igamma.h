// The regularised incomplete gamma functions P(a, x) = igamma and Q(a, x) = igammac = 1 - P, in float.
#ifndef METALLOID_C10_METAL_IGAMMA_H
#define METALLOID_C10_METAL_IGAMMA_H

#include <metal_stdlib>

#include <c10/metal/utils.h>
#include <metalloid/special_error.h>
#include <metalloid/special_gamma.h>

namespace __metalloid {

// u - log(1 + u), u > -1.
inline float log_deficit(float u) {
  if (metal::abs(u) > 0.3f) return u - c10::metal::log1p(u);
  float power = u * u, sum = 0;
  for (int k = 2; k < 24; ++k) {
    const float term = power / float(k);
    sum += k % 2 == 0 ? term : -term;
    if (metal::abs(term) < 3e-8f * metal::abs(sum)) break;
    power *= u;
  }
  return sum;
}

// x^a exp(-x) / gamma(a + 1). For large a around its peak, where powers and gamma alone would cancel.
inline float incomplete_gamma_factor(float a, float x) {
  if (a < 8.0f) return metal::precise::exp(a * metal::precise::log(x) - x - c10::metal::log_gamma(a + 1.0f));
  const float exponent = a * log_deficit((x - a) / a) + stirling_correction(a);
  return metal::precise::exp(-exponent) / metal::precise::sqrt(6.28318531f * a);
}

// P: the sum of x^k / ((a + 1) ... (a + k)); good for x below about a + 1.
inline float incomplete_gamma_series(float a, float x) {
  float term = 1, sum = 1;
  for (int k = 1; k < 2000; ++k) {
    term *= x / (a + float(k));
    sum += term;
    if (term <= 3e-8f * sum) break;
  }
  return incomplete_gamma_factor(a, x) * sum;
}

// Q: Legendre's continued fraction, by Lentz's method; good for x above about a + 1.
inline float incomplete_gamma_fraction(float a, float x) {
  const float tiny = 1e-30f;
  float b = x + 1.0f - a;
  float c = 1.0f / tiny, d = 1.0f / (b == 0 ? tiny : b);
  float fraction = d;
  for (int k = 1; k < 2000; ++k) {
    const float numerator = -float(k) * (float(k) - a);
    b += 2.0f;
    d = numerator * d + b;
    d = 1.0f / (metal::abs(d) < tiny ? tiny : d);
    c = b + numerator / c;
    c = metal::abs(c) < tiny ? tiny : c;
    const float change = c * d;
    fraction *= change;
    if (metal::abs(change - 1.0f) < 6e-8f) break;
  }
  return incomplete_gamma_factor(a, x) * a * fraction;
}

// Q for small x and a: 1 - x^a / gamma(a + 1) (1 + a sum of (-x)^k / ((a + k) k!)), arranged against cancellation.
inline float incomplete_gamma_small(float a, float x) {
  float term = 1, sum = 0;
  for (int k = 1; k < 60; ++k) {
    term *= -x / float(k);
    const float change = term / (a + float(k));
    sum += change;
    if (metal::abs(change) <= 3e-8f * metal::abs(sum)) break;
  }
  const float log_power = a * metal::precise::log(x) - c10::metal::log_gamma(a + 1.0f);
  float less_one;  // exp(log_power) - 1
  if (metal::abs(log_power) < 0.5f) {
    float power = log_power;
    less_one = 0;
    for (int k = 2; k < 14; ++k) {
      less_one += power;
      power *= log_power / float(k);
    }
  } else {
    less_one = metal::precise::exp(log_power) - 1.0f;
  }
  return -less_one - (less_one + 1.0f) * a * sum;
}

// Around x = a for large a (Temme 1979): half an erfc, and a correction in powers of 1 / a. The sign of `side` is 1 for
// Q and -1 for P.
inline float incomplete_gamma_uniform(float a, float x, float side) {
  const float u = (x - a) / a;
  const float half_square = log_deficit(u);
  const float eta = metal::copysign(metal::precise::sqrt(2.0f * half_square), u);
  // Taylor series of Temme's C0, C1, C2 in eta.
  const float c0 = metal::fma(
      eta,
      metal::fma(eta,
                 metal::fma(eta, metal::fma(eta, metal::fma(eta, 3.91926318e-5f, -1.78755144e-4f), 3.52733686e-4f),
                            1.15740741e-3f),
                 -1.48148148e-2f),
      8.33333333e-2f);
  const float c1 = metal::fma(eta, metal::fma(eta, 2.64550265e-3f, -3.47222222e-3f), -1.85185185e-3f);
  const float correction = metal::fma(eta, c0, -0.333333333f) + c1 / a + 4.13359788e-3f / (a * a);
  const float tail = 0.5f * c10::metal::erfc(side * eta * metal::precise::sqrt(0.5f * a));
  return tail + side * metal::precise::exp(-a * half_square) / metal::precise::sqrt(6.28318531f * a) * correction;
}

// NaN, or the values at the edges; 2 inside.
METALLOID_FUNC float incomplete_gamma_edge(float a, float x, bool upper) {
  if (a != a || x != x || a < 0 || x < 0) return NAN;
  if (a == 0) return x > 0 ? (upper ? 0.0f : 1.0f) : NAN;
  if (x == 0) return upper ? 1.0f : 0.0f;
  if (a == INFINITY) return x == INFINITY ? NAN : (upper ? 1.0f : 0.0f);
  if (x == INFINITY) return upper ? 0.0f : 1.0f;
  return 2;
}

METALLOID_FUNC bool is_near_peak(float a, float x) {
  const float distance = metal::abs(x - a) / a;
  return a > 200.0f && distance < 0.3f && distance < 8.0f / metal::precise::sqrt(a);
}

}  // namespace __metalloid

namespace c10 {
namespace metal {

template <typename T>
inline T igamma(T shape, T argument) {
  using namespace __metalloid;
  const float a = static_cast<float>(shape), x = static_cast<float>(argument);
  const float edge = incomplete_gamma_edge(a, x, false);
  if (edge != 2) return static_cast<T>(edge);
  if (is_near_peak(a, x)) return static_cast<T>(incomplete_gamma_uniform(a, x, -1.0f));
  if (x > 1.0f && x > a) return static_cast<T>(1.0f - incomplete_gamma_fraction(a, x));
  return static_cast<T>(incomplete_gamma_series(a, x));
}

template <typename T>
inline T igammac(T shape, T argument) {
  using namespace __metalloid;
  const float a = static_cast<float>(shape), x = static_cast<float>(argument);
  const float edge = incomplete_gamma_edge(a, x, true);
  if (edge != 2) return static_cast<T>(edge);
  if (is_near_peak(a, x)) return static_cast<T>(incomplete_gamma_uniform(a, x, 1.0f));
  if (x > 1.1f) return static_cast<T>(x < a ? 1.0f - incomplete_gamma_series(a, x) : incomplete_gamma_fraction(a, x));
  if (a > x + 1.0f) return static_cast<T>(1.0f - incomplete_gamma_series(a, x));
  return static_cast<T>(incomplete_gamma_small(a, x));
}

}  // namespace metal
}  // namespace c10

#endif
