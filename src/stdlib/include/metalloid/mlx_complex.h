// complex_t: the complex numbers that MLX's custom kernels know (mx.complex64 and its half-precision kin). Here every
// address space converts to the generic one, so that one constructor and one conversion serve them all.
#ifndef METALLOID_MLX_COMPLEX_H
#define METALLOID_MLX_COMPLEX_H

#include <metal_stdlib>

typedef half float16_t;
typedef bfloat bfloat16_t;

template <typename T>
struct complex_t;

template <typename T>
static constexpr constant bool is_complex_v = false;
template <typename T>
static constexpr constant bool is_complex_v<complex_t<T>> = true;

// Whether a number of one type may be cast to the other; bfloat's conversions are explicit.
template <typename From, typename To>
static constexpr constant bool is_lane_convertible_v =
    metal::is_convertible_v<From, To> || (metal::is_same_v<To, bfloat> && metal::is_convertible_v<From, float>) ||
    (metal::is_same_v<From, bfloat> && metal::is_convertible_v<float, To>);

namespace __metalloid {
template <typename From, typename To>
using if_lane = metal::enable_if_t<!is_complex_v<From> && !is_complex_v<To> && is_lane_convertible_v<From, To>, int>;
}

template <typename T>
struct complex_t {
  using value_type = T;

  T real;
  T imag;

  constexpr complex_t() : real(0), imag(0) {}
  constexpr complex_t(T r, T i) : real(r), imag(i) {}
  template <typename U, __metalloid::if_lane<U, T> = 0>
  constexpr complex_t(U x) : real(static_cast<T>(x)), imag(static_cast<T>(0)) {}
  template <typename U, metal::enable_if_t<!metal::is_same_v<U, T> && is_lane_convertible_v<U, T>, int> = 0>
  constexpr complex_t(complex_t<U> x) : real(static_cast<T>(x.real)), imag(static_cast<T>(x.imag)) {}
  constexpr complex_t(vec<T, 2> v) : real(v.x), imag(v.y) {}

  constexpr operator vec<T, 2>() const { return vec<T, 2>(real, imag); }
  template <typename U, __metalloid::if_lane<T, U> = 0>
  constexpr operator U() const {
    return static_cast<U>(real);
  }
};

using complex32_t = complex_t<half>;
using complex64_t = complex_t<float>;

template <typename T>
constexpr complex_t<T> operator-(complex_t<T> x) {
  return {-x.real, -x.imag};
}

// Order is lexicographic, the real part first.
template <typename T>
constexpr bool operator==(complex_t<T> a, complex_t<T> b) {
  return a.real == b.real && a.imag == b.imag;
}
template <typename T>
constexpr bool operator!=(complex_t<T> a, complex_t<T> b) {
  return !(a == b);
}
template <typename T>
constexpr bool operator<(complex_t<T> a, complex_t<T> b) {
  return a.real == b.real ? a.imag < b.imag : a.real < b.real;
}
template <typename T>
constexpr bool operator>(complex_t<T> a, complex_t<T> b) {
  return b < a;
}
template <typename T>
constexpr bool operator<=(complex_t<T> a, complex_t<T> b) {
  return a == b || a < b;
}
template <typename T>
constexpr bool operator>=(complex_t<T> a, complex_t<T> b) {
  return b <= a;
}

template <typename T>
constexpr complex_t<T> operator+(complex_t<T> a, complex_t<T> b) {
  return {T(a.real + b.real), T(a.imag + b.imag)};
}
template <typename T>
constexpr complex_t<T> operator-(complex_t<T> a, complex_t<T> b) {
  return {T(a.real - b.real), T(a.imag - b.imag)};
}
template <typename T>
constexpr complex_t<T> operator*(complex_t<T> a, complex_t<T> b) {
  return {T(a.real * b.real - a.imag * b.imag), T(a.real * b.imag + a.imag * b.real)};
}
// Smith's division (Communications of the ACM 5, 1962, algorithm 116): no overflow of |b| squared.
template <typename T>
constexpr complex_t<T> operator/(complex_t<T> a, complex_t<T> b) {
  const float br = b.real, bi = b.imag;
  const bool real_is_larger = (br < 0 ? -br : br) >= (bi < 0 ? -bi : bi);
  const float large = real_is_larger ? br : bi, small = real_is_larger ? bi : br;
  const float ratio = small / large, denominator = large + small * ratio;
  const float ar = a.real, ai = a.imag;
  if (real_is_larger) return {T((ar + ai * ratio) / denominator), T((ai - ar * ratio) / denominator)};
  return {T((ar * ratio + ai) / denominator), T((ai * ratio - ar) / denominator)};
}

namespace __metalloid {
// The remainder of truncated division, moved to the divisor's sign (Python's %).
template <typename T>
constexpr T floored_remainder(T a, T b) {
  const T remainder = a - b * static_cast<long>(a / b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? T(remainder + b) : remainder;
}
}  // namespace __metalloid

template <typename T>
constexpr complex_t<T> operator%(complex_t<T> a, complex_t<T> b) {
  return {__metalloid::floored_remainder(a.real, b.real), __metalloid::floored_remainder(a.imag, b.imag)};
}

// With a real number on one side.
#define METALLOID_MLX_MIXED(op)                                     \
  template <typename T, typename U, __metalloid::if_lane<U, T> = 0> \
  constexpr complex_t<T> operator op(U a, complex_t<T> b) {         \
    return complex_t<T>(a) op b;                                    \
  }                                                                 \
  template <typename T, typename U, __metalloid::if_lane<U, T> = 0> \
  constexpr complex_t<T> operator op(complex_t<T> a, U b) {         \
    return a op complex_t<T>(b);                                    \
  }
METALLOID_MLX_MIXED(+)
METALLOID_MLX_MIXED(-)
METALLOID_MLX_MIXED(*)
METALLOID_MLX_MIXED(/)
#undef METALLOID_MLX_MIXED

#define METALLOID_MLX_ADD_TO(space)                                                 \
  template <typename T>                                                             \
  constexpr space complex_t<T>& operator+=(space complex_t<T>& a, complex_t<T> b) { \
    a.real += b.real;                                                               \
    a.imag += b.imag;                                                               \
    return a;                                                                       \
  }
METALLOID_MLX_ADD_TO(thread)
METALLOID_MLX_ADD_TO(threadgroup)
METALLOID_MLX_ADD_TO(device)
#undef METALLOID_MLX_ADD_TO

static_assert(sizeof(complex64_t) == 8 && sizeof(complex32_t) == 4 && sizeof(complex_t<bfloat16_t>) == 4);

#endif
