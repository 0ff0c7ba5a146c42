// Bessel functions of orders 0 and 1, in float: J, Y, the modified I and K, and their scaled forms.
#ifndef METALLOID_SPECIAL_BESSEL_H
#define METALLOID_SPECIAL_BESSEL_H

#include <metal_stdlib>

#include <metalloid/special_series.h>

namespace __metalloid {

// x > 8: sqrt(2 / (pi x)) (P, Q) rotated by x - pi/4 (order 0) or x - 3 pi/4 (order 1); .x is J, .y is Y.
template <int order>
METALLOID_FUNC float2 hankel(float x) {
  const float ratio = 8.0f / x;
  const float t = 2.0f * ratio * ratio - 1.0f;
  float p, q;
  if constexpr (order == 0) {
    p = chebyshev(series::hankel_p0, t);
    q = ratio * chebyshev(series::hankel_q0, t);
  } else {
    p = chebyshev(series::hankel_p1, t);
    q = ratio * chebyshev(series::hankel_q1, t);
  }
  const float sine = metal::precise::sin(x), cosine = metal::precise::cos(x);
  // sqrt(2) times the cosine and sine of the phase.
  const float c = order == 0 ? cosine + sine : sine - cosine;
  const float s = order == 0 ? sine - cosine : -sine - cosine;
  const float scale = 0.564189584f / metal::precise::sqrt(x);  // 1 / sqrt(pi x)
  return scale * float2(p * c - q * s, p * s + q * c);
}

METALLOID_FUNC float small_argument(float x) { return x * x * 0.03125f - 1.0f; }  // x^2 in [0, 64]

METALLOID_FUNC float j0_of(float x) {
  return x <= 8.0f ? chebyshev(series::j0_small, small_argument(x)) : hankel<0>(x).x;
}
METALLOID_FUNC float j1_of(float x) {
  return x <= 8.0f ? x * chebyshev(series::j1_small, small_argument(x)) : hankel<1>(x).x;
}

// exp(-x) I(x), x >= 0.
METALLOID_FUNC float scaled_i0_of(float x) {
  if (x <= 6.0f) return chebyshev(series::i0_small, x / 3.0f - 1.0f);
  return chebyshev(series::i0_large, 12.0f / x - 1.0f) / metal::precise::sqrt(x);
}
METALLOID_FUNC float scaled_i1_of(float x) {
  if (x <= 6.0f) return x * chebyshev(series::i1_small, x / 3.0f - 1.0f);
  return chebyshev(series::i1_large, 12.0f / x - 1.0f) / metal::precise::sqrt(x);
}

// exp(x) scaled, in two factors: the result may be finite where exp(x) is not.
METALLOID_FUNC float grown(float scaled, float x) {
  const float root = metal::precise::exp(0.5f * x);
  return scaled * root * root;
}

// x in (0, 2].
METALLOID_FUNC float k0_small_of(float x) {
  const float i0 = metal::precise::exp(x) * scaled_i0_of(x);
  return chebyshev(series::k0_small, 0.5f * x * x - 1.0f) - metal::precise::log(0.5f * x) * i0;
}
METALLOID_FUNC float k1_small_of(float x) {
  const float i1 = metal::precise::exp(x) * scaled_i1_of(x);
  return chebyshev(series::k1_small, 0.5f * x * x - 1.0f) / x + metal::precise::log(0.5f * x) * i1;
}

// exp(x) K(x), x > 2.
METALLOID_FUNC float scaled_k0_large(float x) {
  return chebyshev(series::k0_large, 4.0f / x - 1.0f) / metal::precise::sqrt(x);
}
METALLOID_FUNC float scaled_k1_large(float x) {
  return chebyshev(series::k1_large, 4.0f / x - 1.0f) / metal::precise::sqrt(x);
}

}  // namespace __metalloid

namespace c10 {
namespace metal {

template <typename T>
inline T i0e(T value) {
  return static_cast<T>(__metalloid::scaled_i0_of(::metal::abs(static_cast<float>(value))));
}
template <typename T>
inline T i1e(T value) {
  const float x = static_cast<float>(value);
  const float size = __metalloid::scaled_i1_of(::metal::abs(x));
  return static_cast<T>(x < 0 ? -size : size);
}
template <typename T>
inline float modified_bessel_i0_forward(T value) {
  const float x = ::metal::abs(static_cast<float>(value));
  return x == INFINITY ? x : __metalloid::grown(__metalloid::scaled_i0_of(x), x);
}
template <typename T>
inline float modified_bessel_i1_forward(T value) {
  const float x = static_cast<float>(value), size = ::metal::abs(x);
  if (size == INFINITY) return x;
  const float result = __metalloid::grown(__metalloid::scaled_i1_of(size), size);
  return x < 0 ? -result : result;
}
template <typename T>
inline T i0(T value) {
  return static_cast<T>(modified_bessel_i0_forward(value));
}
template <typename T>
inline T i1(T value) {
  return static_cast<T>(modified_bessel_i1_forward(value));
}

template <typename T>
inline float bessel_j0_forward(T value) {
  const float x = ::metal::abs(static_cast<float>(value));
  return x == INFINITY ? 0.0f : __metalloid::j0_of(x);
}
template <typename T>
inline float bessel_j1_forward(T value) {
  const float x = static_cast<float>(value), size = ::metal::abs(x);
  if (size == INFINITY) return 0;
  return x < 0 ? -__metalloid::j1_of(size) : __metalloid::j1_of(size);
}

// Minus infinity at 0, NaN below.
template <typename T>
inline float bessel_y0_forward(T value) {
  const float x = static_cast<float>(value);
  if (x == 0) return -INFINITY;
  if (x < 0) return NAN;
  if (x == INFINITY) return 0;
  if (x > 8.0f) return __metalloid::hankel<0>(x).y;
  const float regular = __metalloid::chebyshev(__metalloid::series::y0_small, __metalloid::small_argument(x));
  return regular + 0.636619772f * ::metal::precise::log(x) * __metalloid::j0_of(x);  // 2 / pi
}
template <typename T>
inline float bessel_y1_forward(T value) {
  const float x = static_cast<float>(value);
  if (x == 0) return -INFINITY;
  if (x < 0) return NAN;
  if (x == INFINITY) return 0;
  if (x > 8.0f) return __metalloid::hankel<1>(x).y;
  const float regular = x * __metalloid::chebyshev(__metalloid::series::y1_small, __metalloid::small_argument(x));
  return regular + 0.636619772f * (::metal::precise::log(x) * __metalloid::j1_of(x) - 1.0f / x);
}

// Infinite at 0, NaN below.
#define METALLOID_MODIFIED_K(order)                                                       \
  template <typename T>                                                                   \
  inline float modified_bessel_k##order##_forward(T value) {                              \
    const float x = static_cast<float>(value);                                            \
    if (x == 0) return INFINITY;                                                          \
    if (x < 0) return NAN;                                                                \
    if (x == INFINITY) return 0;                                                          \
    if (x <= 2.0f) return __metalloid::k##order##_small_of(x);                            \
    return ::metal::precise::exp(-x) * __metalloid::scaled_k##order##_large(x);           \
  }                                                                                       \
  template <typename T>                                                                   \
  inline float scaled_modified_bessel_k##order##_forward(T value) {                       \
    const float x = static_cast<float>(value);                                            \
    if (x == 0) return INFINITY;                                                          \
    if (x < 0) return NAN;                                                                \
    if (x == INFINITY) return 0;                                                          \
    if (x <= 2.0f) return ::metal::precise::exp(x) * __metalloid::k##order##_small_of(x); \
    return __metalloid::scaled_k##order##_large(x);                                       \
  }
METALLOID_MODIFIED_K(0)
METALLOID_MODIFIED_K(1)
#undef METALLOID_MODIFIED_K

// sin(x) / x; a series where the quotient would lose digits.
template <typename T>
inline T spherical_bessel_j0(T value) {
  const float x = static_cast<float>(value);
  if (::metal::abs(x) == INFINITY) return T(0);
  if (::metal::abs(x) < 0.5f) {
    const float square = x * x;
    const float series = ::metal::fma(square, ::metal::fma(square, -1.98412698e-4f, 8.33333333e-3f), -1.66666667e-1f);
    return static_cast<T>(::metal::fma(square, ::metal::fma(square * square * square, 2.75573192e-6f, series), 1.0f));
  }
  return static_cast<T>(::metal::precise::sin(x) / x);
}

}  // namespace metal
}  // namespace c10

#endif
