// Orthogonal polynomials by their three-term recurrences (Abramowitz and Stegun, chapter 22), in float. A degree below
// 0 gives 0. Inside of (-1, 1) high degrees of Chebyshev's come from their trigonometric forms.
#ifndef METALLOID_SPECIAL_POLYNOMIALS_H
#define METALLOID_SPECIAL_POLYNOMIALS_H

#include <metal_stdlib>

namespace __metalloid {

// p(k + 1) = 2 x p(k) - p(k - 1), from p(0) = 1 and p(1).
METALLOID_FUNC float chebyshev_recurrence(float x, long degree, float first) {
  if (degree == 0) return 1;
  float previous = 1, current = first;
  for (long k = 2; k <= degree; ++k) {
    const float next = (x + x) * current - previous;
    previous = current;
    current = next;
    if (next != next) break;
  }
  return current;
}

enum class chebyshev_kind { first, second, third, fourth };

// As functions of x = cos(angle): cos(n a), sin((n + 1) a) / sin(a), cos((n + 1/2) a) / cos(a / 2),
// sin((n + 1/2) a) / sin(a / 2).
template <chebyshev_kind kind>
inline float chebyshev_polynomial(float x, long n) {
  if (n < 0) return 0;
  const bool even = n % 2 == 0;
  if (metal::abs(x) == 1.0f) {
    const bool low = x < 0;
    const float odd_count = float(n + n + 1);
    if constexpr (kind == chebyshev_kind::first) return low && !even ? -1.0f : 1.0f;
    if constexpr (kind == chebyshev_kind::second) return low && !even ? -float(n + 1) : float(n + 1);
    if constexpr (kind == chebyshev_kind::third) return low ? (even ? odd_count : -odd_count) : 1.0f;
    return low ? (even ? 1.0f : -1.0f) : odd_count;
  }
  if (n > 8 && metal::abs(x) < 1.0f) {
    const float angle = metal::precise::acos(x);
    if constexpr (kind == chebyshev_kind::first) return metal::precise::cos(float(n) * angle);
    if constexpr (kind == chebyshev_kind::second) {
      const float sine = metal::precise::sin(angle);
      return sine == 0 ? float(n + 1) * metal::precise::cos(float(n + 1) * angle) / x
                       : metal::precise::sin(float(n + 1) * angle) / sine;
    }
    const float turned = (float(n) + 0.5f) * angle, half_angle = 0.5f * angle;
    if constexpr (kind == chebyshev_kind::third) return metal::precise::cos(turned) / metal::precise::cos(half_angle);
    return metal::precise::sin(turned) / metal::precise::sin(half_angle);
  }
  if constexpr (kind == chebyshev_kind::first) return chebyshev_recurrence(x, n, x);
  if constexpr (kind == chebyshev_kind::second) return chebyshev_recurrence(x, n, x + x);
  if constexpr (kind == chebyshev_kind::third) return chebyshev_recurrence(x, n, x + x - 1.0f);
  return chebyshev_recurrence(x, n, x + x + 1.0f);
}

}  // namespace __metalloid

namespace c10 {
namespace metal {

// The shifted ones live on [0, 1].
#define METALLOID_CHEBYSHEV(letter, kind)                                                     \
  template <typename T>                                                                       \
  float chebyshev_polynomial_##letter##_forward(T x, int64_t n) {                             \
    using __metalloid::chebyshev_kind;                                                        \
    return __metalloid::chebyshev_polynomial<chebyshev_kind::kind>(static_cast<float>(x), n); \
  }                                                                                           \
  template <typename T>                                                                       \
  float shifted_chebyshev_polynomial_##letter##_forward(T x, int64_t n) {                     \
    using __metalloid::chebyshev_kind;                                                        \
    const float shifted = static_cast<float>(x) + static_cast<float>(x) - 1.0f;               \
    return __metalloid::chebyshev_polynomial<chebyshev_kind::kind>(shifted, n);               \
  }
METALLOID_CHEBYSHEV(t, first)
METALLOID_CHEBYSHEV(u, second)
METALLOID_CHEBYSHEV(v, third)
METALLOID_CHEBYSHEV(w, fourth)
#undef METALLOID_CHEBYSHEV

// Degrees above this overflow nearly everywhere; their value is NaN, as in torch.
template <typename T>
METALLOID_FUNC constexpr int getHermitianLimit() {
  return 128;
}

// Physicists': p(k + 1) = 2 x p(k) - 2 k p(k - 1).
template <typename T>
inline float hermite_polynomial_h_forward(T value, int64_t n) {
  const float x = static_cast<float>(value);
  if (n < 0) return 0;
  if (n == 0) return 1;
  if (n > getHermitianLimit<T>()) return NAN;
  float previous = 1, current = x + x;
  for (long k = 1; k < n; ++k) {
    const float next = (x + x) * current - float(2 * k) * previous;
    previous = current;
    current = next;
  }
  return current;
}

// Probabilists': p(k + 1) = x p(k) - k p(k - 1).
template <typename T>
inline float hermite_polynomial_he_forward(T value, int64_t n) {
  const float x = static_cast<float>(value);
  if (n < 0) return 0;
  if (n == 0) return 1;
  if (n > getHermitianLimit<T>()) return NAN;
  float previous = 1, current = x;
  for (long k = 1; k < n; ++k) {
    const float next = x * current - float(k) * previous;
    previous = current;
    current = next;
  }
  return current;
}

// (k + 1) p(k + 1) = (2 k + 1 - x) p(k) - k p(k - 1).
template <typename T>
inline float laguerre_polynomial_l_forward(T value, int64_t n) {
  const float x = static_cast<float>(value);
  if (n < 0) return 0;
  if (n == 0 || x == 0) return 1;
  float previous = 1, current = 1.0f - x;
  for (long k = 1; k < n; ++k) {
    const float next = (((float(2 * k) + 1.0f) - x) * current - float(k) * previous) / float(k + 1);
    previous = current;
    current = next;
    if (next != next) break;
  }
  return current;
}

// (k + 1) p(k + 1) = (2 k + 1) x p(k) - k p(k - 1).
template <typename T>
inline float legendre_polynomial_p_forward(T value, int64_t n) {
  const float x = static_cast<float>(value);
  if (n < 0) return 0;
  if (n == 0) return 1;
  if (::metal::abs(x) == 1.0f) return x > 0 || n % 2 == 0 ? 1 : -1;
  float previous = 1, current = x;
  for (long k = 1; k < n; ++k) {
    const float next = (float(2 * k + 1) * x * current - float(k) * previous) / float(k + 1);
    previous = current;
    current = next;
    if (next != next) break;
  }
  return current;
}

}  // namespace metal
}  // namespace c10

#endif
