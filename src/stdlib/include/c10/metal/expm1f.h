// exp(x) - 1 in float.
#ifndef METALLOID_C10_METAL_EXPM1F_H
#define METALLOID_C10_METAL_EXPM1F_H

#include <metal_stdlib>

namespace c10 {
namespace metal {

// x = n ln 2 + r with |r| <= ln 2 / 2: e^x - 1 = 2^n (e^r - 1) + (2^n - 1), and e^r - 1 is a short series in r whose
// leading terms r + r^2 / 2 stay exact to the last bit.
inline float expm1f(float x) {
  if (x == 0 || x != x) return x;
  if (x < -17.5f) return -1.0f;
  if (x > 88.75f) return INFINITY;
  const float n = ::metal::rint(x * M_LOG2E_F);
  // ln 2 in two parts; the first has trailing zeros, so that n times it is exact.
  const float r = ::metal::fma(n, -1.42860677e-6f, ::metal::fma(n, -0.693145752f, x));
  // (e^r - 1 - r - r^2 / 2) / r^3 as a Taylor polynomial; |r|^8 / 9! is below half a unit in the last place.
  float tail = 1.0f / 40320.0f;
  tail = ::metal::fma(tail, r, 1.0f / 5040.0f);
  tail = ::metal::fma(tail, r, 1.0f / 720.0f);
  tail = ::metal::fma(tail, r, 1.0f / 120.0f);
  tail = ::metal::fma(tail, r, 1.0f / 24.0f);
  tail = ::metal::fma(tail, r, 1.0f / 6.0f);
  const float series = ::metal::fma(::metal::fma(tail, r, 0.5f), r * r, r);
  if (n == 0) return series;
  // Half of it first: 2^128 is no float.
  const float half_scale = ::metal::ldexp(0.5f, int(n));
  return 2.0f * ::metal::fma(half_scale, series, half_scale - 0.5f);
}

}  // namespace metal
}  // namespace c10

#endif
