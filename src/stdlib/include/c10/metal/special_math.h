// Special functions in float precision under the names that PyTorch's Metal kernels use. Metalloid's own: Chebyshev
// series, recurrences and asymptotic expansions, see the headers below.
#ifndef METALLOID_C10_METAL_SPECIAL_MATH_H
#define METALLOID_C10_METAL_SPECIAL_MATH_H

#include <metal_stdlib>

#include <c10/metal/expm1f.h>
#include <c10/metal/utils.h>
#include <metalloid/special_bessel.h>
#include <metalloid/special_error.h>
#include <metalloid/special_gamma.h>
#include <metalloid/special_polynomials.h>

namespace c10 {
namespace metal {

// The sum of a Chebyshev series with the coefficient of the highest degree first and the last one doubled; x is twice
// the argument (the convention of the Cephes library).
template <typename T>
METALLOID_FUNC T chbevl(T x, const float array[], const int length) {
  T current = T(array[0]), next = T(0), after = T(0);
  for (int i = 1; i < length; ++i) {
    after = next;
    next = current;
    current = T(x * next - after + T(array[i]));
  }
  return T(T(0.5f) * (current - after));
}

// sin(pi x) / (pi x).
template <typename T>
METALLOID_FUNC ::metal::enable_if_t<is_scalar_floating_point_v<T>, T> sinc(T value) {
  const float x = static_cast<float>(value);
  return static_cast<T>(x == 0 ? 1.0f : ::metal::precise::sinpi(x) / (M_PI_F * x));
}
template <typename T>
METALLOID_FUNC ::metal::enable_if_t<is_complex_v<T>, T> sinc(T value) {
  const float2 z = float2(value);
  if (z.x == 0 && z.y == 0) return T(1, 0);
  const float height = M_PI_F * z.y;
  const float2 sine = float2(::metal::precise::sinpi(z.x) * ::metal::precise::cosh(height),
                             ::metal::precise::cospi(z.x) * ::metal::precise::sinh(height));
  return T(div(sine, M_PI_F * z));
}

// log(exp(a) + exp(b)), and the same to base 2.
template <typename T>
METALLOID_FUNC ::metal::enable_if_t<is_scalar_floating_point_v<T>, T> logaddexp(T a, T b) {
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  if (x == y && ::metal::abs(x) == INFINITY) return a;
  return static_cast<T>(max(x, y) + log1p(::metal::precise::exp(-::metal::abs(x - y))));
}
template <typename T>
METALLOID_FUNC ::metal::enable_if_t<is_complex_v<T>, T> logaddexp(T a, T b) {
  const float2 x = float2(a), y = float2(b);
  const bool swap = x.x < y.x;
  const float2 high = swap ? y : x, low = swap ? x : y;
  if (high.x == low.x && high.y == low.y && ::metal::abs(high.x) == INFINITY) return a;
  const float2 difference = low - high;
  const float size = ::metal::precise::exp(difference.x);
  const float2 ratio = size * float2(::metal::precise::cos(difference.y), ::metal::precise::sin(difference.y));
  return T(high + log1p(ratio));
}
template <typename T>
METALLOID_FUNC T logaddexp2(T a, T b) {
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  if (x == y && ::metal::abs(x) == INFINITY) return a;
  return static_cast<T>(max(x, y) + M_LOG2E_F * log1p(::metal::precise::exp2(-::metal::abs(x - y))));
}

// x log(y) and x log(1 + y): 0 where x is, unless y is NaN.
template <typename T>
METALLOID_FUNC float xlogy(T a, T b) {
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  if (y != y) return NAN;
  return x == 0 ? 0.0f : x * ::metal::precise::log(y);
}
template <typename T>
METALLOID_FUNC float xlog1py(T a, T b) {
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  if (y != y) return NAN;
  return x == 0 ? 0.0f : x * log1p(y);
}

// -x log(x); minus infinity below 0.
template <typename T>
METALLOID_FUNC T entr(T value) {
  const float x = static_cast<float>(value);
  if (x != x) return value;
  if (x > 0) return static_cast<T>(-x * ::metal::precise::log(x));
  return static_cast<T>(x == 0 ? 0.0f : -INFINITY);
}

}  // namespace metal
}  // namespace c10

#endif
