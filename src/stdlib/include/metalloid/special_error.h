// Error functions: erf, erfc, erfcx, erfinv, in float.
#ifndef METALLOID_SPECIAL_ERROR_H
#define METALLOID_SPECIAL_ERROR_H

#include <metal_stdlib>

#include <metalloid/special_series.h>

namespace __metalloid {

// exp(-x^2), with x^2 in two parts: rounding a large square would cost its size in relative error.
METALLOID_FUNC float exp_of_minus_square(float x) {
  const float square = x * x;
  const float rest = metal::fma(x, x, -square);
  return metal::precise::exp(-square) * (1.0f - rest);
}

// x >= 0.
METALLOID_FUNC float erfcx_positive(float x) {
  if (x > 1e8f) return 0.564189584f / x;  // 1 / (x sqrt(pi))
  return chebyshev(series::erfcx_all, (x - 4.0f) / (x + 4.0f)) / (1.0f + 2.0f * x);
}

}  // namespace __metalloid

namespace c10 {
namespace metal {

// exp(x^2) erfc(x).
template <typename T>
inline float erfcx(T value) {
  const float x = static_cast<float>(value);
  if (x >= 0) return __metalloid::erfcx_positive(x);
  if (x < -9.5f) return INFINITY;
  const float square = x * x;
  const float rest = ::metal::fma(x, x, -square);
  const float growth = ::metal::precise::exp(square) * (1.0f + rest);
  return 2.0f * growth - __metalloid::erfcx_positive(-x);
}

template <typename T>
inline float erfc(T value) {
  const float x = static_cast<float>(value);
  const float size = ::metal::abs(x);
  if (size < 0.5f) return 1.0f - x * __metalloid::chebyshev(__metalloid::series::erf_small, 2.0f * x * x - 1.0f);
  const float tail = size > 10.5f ? 0.0f : __metalloid::exp_of_minus_square(size) * __metalloid::erfcx_positive(size);
  return x < 0 ? 2.0f - tail : tail;
}

template <typename T>
inline float erf(T value) {
  const float x = static_cast<float>(value);
  const float size = ::metal::abs(x);
  if (!(size > 1.0f)) return x * __metalloid::chebyshev(__metalloid::series::erf_small, 2.0f * x * x - 1.0f);
  const float tail = size > 10.5f ? 0.0f : __metalloid::exp_of_minus_square(size) * __metalloid::erfcx_positive(size);
  return ::metal::copysign(1.0f - tail, x);
}

// NaN outside of [-1, 1], infinite at its ends. A function of w = -log(1 - y^2), which erf's tails turn into.
template <typename T>
inline float erfinv(T value) {
  const float y = static_cast<float>(value);
  const float size = ::metal::abs(y);
  if (!(size <= 1.0f)) return NAN;
  if (size == 1.0f) return ::metal::copysign(INFINITY, y);
  const float w = -::metal::precise::log((1.0f - size) * (1.0f + size));
  if (w <= 5.0f) return y * __metalloid::chebyshev(__metalloid::series::erfinv_centre, 0.4f * w - 1.0f);
  const float low = 2.23606798f, high = 4.2f;
  const float t = (2.0f * ::metal::precise::sqrt(w) - (low + high)) / (high - low);
  return y * __metalloid::chebyshev(__metalloid::series::erfinv_tail, t);
}

}  // namespace metal
}  // namespace c10

#endif
