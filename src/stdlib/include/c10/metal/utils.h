// Types and arithmetic that PyTorch's Metal kernels build on: NaN-propagating min and max, Python's division and
// remainder, complex numbers as float2 and half2. Metalloid's own.
#ifndef METALLOID_C10_METAL_UTILS_H
#define METALLOID_C10_METAL_UTILS_H

#include <metal_stdlib>

#include <c10/metal/common.h>

namespace c10 {
namespace metal {
namespace detail {

template <bool condition>
using require = ::metal::enable_if_t<condition, bool>;

template <typename T>
struct vectypes {};
#define METALLOID_VECTOR_TYPES(type)     \
  template <>                            \
  struct vectypes<type> {                \
    using type2 = ::metal::vec<type, 2>; \
    using type3 = ::metal::vec<type, 3>; \
    using type4 = ::metal::vec<type, 4>; \
  };
METALLOID_VECTOR_TYPES(float)
METALLOID_VECTOR_TYPES(half)
METALLOID_VECTOR_TYPES(bfloat)
METALLOID_VECTOR_TYPES(short)
METALLOID_VECTOR_TYPES(int)
METALLOID_VECTOR_TYPES(long)
#undef METALLOID_VECTOR_TYPES

template <typename T>
struct named_type {
  using type = T;
};

template <typename T>
struct OpMathType : named_type<T> {};
template <>
struct OpMathType<half> : named_type<float> {};
template <>
struct OpMathType<bfloat> : named_type<float> {};
template <>
struct OpMathType<half2> : named_type<float2> {};
template <>
struct OpMathType<short> : named_type<int> {};
template <>
struct OpMathType<char> : named_type<int> {};
template <>
struct OpMathType<uchar> : named_type<int> {};

template <typename T>
struct AccumulationType : named_type<T> {};
template <>
struct AccumulationType<half> : named_type<float> {};
template <>
struct AccumulationType<bfloat> : named_type<float> {};

}  // namespace detail

template <typename T>
using vec2type_t = typename detail::vectypes<T>::type2;
template <typename T>
using vec4type_t = typename detail::vectypes<T>::type4;

// The type that single operations are computed in, and the one that sums are kept in.
template <typename T>
using opmath_t = typename detail::OpMathType<T>::type;
template <typename T>
using accum_t = typename detail::AccumulationType<T>::type;

template <typename T, int N>
struct alignas(sizeof(T) * N) aligned_vector {
  T v[N];
};

template <typename F, typename... Arguments>
using result_of = decltype(::metal::declval<F>()(::metal::declval<Arguments>()...));

template <typename T>
constexpr constant bool is_complex_v = ::metal::is_same_v<T, float2> || ::metal::is_same_v<T, half2>;
template <typename T>
constexpr constant bool is_scalar_floating_point_v = ::metal::is_floating_point_v<T> && ::metal::is_scalar_v<T>;
template <typename T>
constexpr constant bool is_scalar_integral_v = ::metal::is_integral_v<T> && ::metal::is_scalar_v<T>;

template <typename T, typename U>
using common_dtype = decltype(T(0) + U(0));

template <typename First, typename Second = First>
struct pair {
  First first;
  Second second;
};

// Floating point: a NaN operand makes the result NaN (metal::max returns the other one).
template <typename T>
METALLOID_FUNC ::metal::enable_if_t<::metal::is_floating_point_v<T>, T> max(T a, T b) {
  return a != a || a > b ? a : b;
}
template <typename T>
METALLOID_FUNC ::metal::enable_if_t<::metal::is_floating_point_v<T>, T> min(T a, T b) {
  return a != a || a < b ? a : b;
}
template <typename T, typename U>
METALLOID_FUNC ::metal::enable_if_t<::metal::is_integral_v<T>&& ::metal::is_integral_v<U>, T> max(T a, U b) {
  return ::metal::max(a, static_cast<T>(b));
}
template <typename T, typename U>
METALLOID_FUNC ::metal::enable_if_t<::metal::is_integral_v<T>&& ::metal::is_integral_v<U>, T> min(T a, U b) {
  return ::metal::min(a, static_cast<T>(b));
}

// An order for sorting: NaN comes after every number.
template <typename T>
METALLOID_FUNC bool less(T a, T b) {
  const bool a_is_nan = a != a, b_is_nan = b != b;
  return (b_is_nan && !a_is_nan) || a < b;
}

// Rounds towards minus infinity, as Python's //.
template <typename T, typename U, detail::require<is_scalar_integral_v<T> && is_scalar_integral_v<U>> = true>
METALLOID_FUNC common_dtype<T, U> floor_divide(T x, U y) {
  const common_dtype<T, U> quotient = x / y;
  const bool inexact = quotient * y != x;
  return quotient - (inexact && (x < 0) != (y < 0) ? 1 : 0);
}
template <typename T, typename U,
          detail::require<is_scalar_floating_point_v<T> || is_scalar_floating_point_v<U>> = true>
METALLOID_FUNC common_dtype<T, U> floor_divide(T x, U y) {
  return ::metal::floor(x / y);
}

// The same where x / y would round up to the next integer: the remainder is exact, so start from it.
template <typename T, detail::require<is_scalar_floating_point_v<T>> = true>
METALLOID_FUNC T div_floor(const T a, const T b) {
  if (b == 0) return a / b;
  const T remainder = ::metal::fmod(a, b);
  T quotient = (a - remainder) / b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) quotient -= T(1);
  if (quotient == 0) return ::metal::copysign(T(0), a / b);
  const T rounded = ::metal::floor(quotient);
  return quotient - rounded > T(0.5) ? rounded + T(1) : rounded;
}

// Volatile keeps compilers from fusing (x / a) % y.
template <typename T, typename U, detail::require<is_scalar_integral_v<T> && is_scalar_integral_v<U>> = true>
METALLOID_FUNC common_dtype<T, U> safe_mod(volatile T x, U y) {
  return x % y;
}

// The remainder with the dividend's sign.
template <typename T, typename U, detail::require<is_scalar_integral_v<T> && is_scalar_integral_v<U>> = true>
METALLOID_FUNC common_dtype<T, U> fmod(T x, U y) {
  return x % y;
}
template <typename T, typename U,
          detail::require<is_scalar_floating_point_v<T> || is_scalar_floating_point_v<U>> = true>
METALLOID_FUNC common_dtype<T, U> fmod(T x, U y) {
  using C = common_dtype<T, U>;
  return ::metal::fmod(static_cast<C>(x), static_cast<C>(y));
}

// The remainder with the divisor's sign, as Python's %.
template <typename T, typename U, detail::require<is_scalar_integral_v<T> && is_scalar_integral_v<U>> = true>
METALLOID_FUNC common_dtype<T, U> remainder(const T x, const U y) {
  const common_dtype<T, U> rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
template <typename T, typename U,
          detail::require<is_scalar_floating_point_v<T> || is_scalar_floating_point_v<U>> = true>
METALLOID_FUNC float remainder(const T x, const U y) {
  const float dividend = static_cast<float>(x), divisor = static_cast<float>(y);
  return dividend - divisor * ::metal::floor(dividend / divisor);
}

// Conversions as torch's `to`: a scalar becomes a real complex number, a complex number loses its imaginary part
// (bool: whether it is not 0).
template <typename T, typename U, detail::require<::metal::is_same_v<T, U>> = true>
METALLOID_FUNC T cast_to(const U from) {
  return from;
}
template <typename T, typename U,
          detail::require<!::metal::is_same_v<T, U> && !is_complex_v<T> && !is_complex_v<U>> = true>
METALLOID_FUNC T cast_to(const U from) {
  return static_cast<T>(from);
}
template <typename T, typename U,
          detail::require<!::metal::is_same_v<T, U> && is_complex_v<T> && is_complex_v<U>> = true>
METALLOID_FUNC T cast_to(const U from) {
  return T(from);
}
template <typename T, typename U, detail::require<is_complex_v<T> && !is_complex_v<U>> = true>
METALLOID_FUNC T cast_to(const U from) {
  return T(float(from), 0);
}
template <typename T, typename U, detail::require<::metal::is_same_v<T, bool> && is_complex_v<U>> = true>
METALLOID_FUNC T cast_to(const U from) {
  return from.x != 0 || from.y != 0;
}
template <typename T, typename U,
          detail::require<!is_complex_v<T> && !::metal::is_same_v<T, bool> && is_complex_v<U>> = true>
METALLOID_FUNC T cast_to(const U from) {
  return static_cast<T>(from.x);
}

template <typename T, typename U, detail::require<!is_complex_v<T>> = true>
METALLOID_FUNC common_dtype<T, U> mul(const T x, const U y) {
  return x * y;
}
template <typename T, typename U, detail::require<is_complex_v<T> && is_complex_v<U>> = true>
METALLOID_FUNC common_dtype<T, U> mul(const T x, const U y) {
  return common_dtype<T, U>(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}

template <typename T, typename U, detail::require<!is_complex_v<T>> = true>
METALLOID_FUNC common_dtype<T, U> div(const T x, const U y) {
  return x / y;
}
template <typename T, typename U, detail::require<is_complex_v<T> && is_complex_v<U>> = true>
METALLOID_FUNC common_dtype<T, U> div(const T x, const U y) {
  const float2 a = float2(x), b = float2(y);
  // Scaled by the divisor's larger part: |b|^2 would overflow early.
  const float scale = ::metal::max(::metal::abs(b.x), ::metal::abs(b.y));
  if (scale == 0) return common_dtype<T, U>(a.x / scale, a.y / scale);
  const float2 unit = b / scale;
  const float2 numerator = float2(a.x * unit.x + a.y * unit.y, a.y * unit.x - a.x * unit.y);
  return common_dtype<T, U>(numerator / (b.x * unit.x + b.y * unit.y));
}

template <typename T, typename U, detail::require<!is_complex_v<T>> = true>
METALLOID_FUNC common_dtype<T, U> fma(const T x, const U y, const common_dtype<T, U> z) {
  using C = common_dtype<T, U>;
  return ::metal::fma(static_cast<C>(x), static_cast<C>(y), z);
}
template <typename T, typename U, detail::require<is_complex_v<T> && is_complex_v<U>> = true>
METALLOID_FUNC common_dtype<T, U> fma(const T x, const U y, const common_dtype<T, U> z) {
  return mul(x, y) + z;
}

// a to a whole power not below 0, by squaring.
template <typename T, detail::require<is_scalar_integral_v<T>> = true>
METALLOID_FUNC T powi_impl(T a, T b) {
  T power = 1;
  for (; b; b /= 2) {
    if (b & 1) power *= a;
    a *= a;
  }
  return power;
}

template <typename T, typename U,
          detail::require<is_scalar_floating_point_v<T> && is_scalar_floating_point_v<U>> = true>
METALLOID_FUNC float pow(T a, U b) {
  return ::metal::precise::pow(static_cast<float>(a), static_cast<float>(b));
}
// exp(b log a).
template <typename T, typename U, detail::require<is_complex_v<T> && is_complex_v<U>> = true>
METALLOID_FUNC float2 pow(T a, U b) {
  const float2 base = float2(a), exponent = float2(b);
  const float magnitude = ::metal::precise::sqrt(base.x * base.x + base.y * base.y);
  if (magnitude == 0) {
    const bool is_one = exponent.x == 0 && exponent.y == 0;
    if (is_one || (exponent.y == 0 && exponent.x > 0)) return float2(is_one ? 1.0f : 0.0f, 0.0f);
    return float2(NAN, NAN);
  }
  const float angle = ::metal::precise::atan2(base.y, base.x);
  const float log_magnitude = ::metal::precise::log(magnitude);
  const float scale = ::metal::precise::exp(exponent.x * log_magnitude - exponent.y * angle);
  const float turn = exponent.y * log_magnitude + exponent.x * angle;
  return scale * float2(::metal::precise::cos(turn), ::metal::precise::sin(turn));
}
template <typename T, typename U, detail::require<is_scalar_integral_v<T> && !::metal::is_signed_v<T>> = true>
METALLOID_FUNC T pow(T a, U b) {
  return powi_impl(a, T(b));
}
// Of negative powers only those of 1 and -1 are whole numbers; the rest is 0.
template <typename T, typename U, detail::require<is_scalar_integral_v<T>&& ::metal::is_signed_v<T>> = true>
METALLOID_FUNC T pow(T a, U b) {
  if (b >= 0) return powi_impl(a, T(b));
  if (a == T(1)) return 1;
  if (a == T(-1)) return b % 2 == 0 ? 1 : -1;
  return 0;
}

// log(1 + x) without losing the digits of a small x (Kahan): the error of rounding 1 + x cancels in the quotient. Fast
// math would take sum - 1 for x.
METALLOID_FUNC float log1p(float x) {
#pragma METAL fp math_mode(safe)
  const float sum = 1.0f + x;
  if (sum == 1.0f || x == INFINITY) return x;
  return ::metal::precise::log(sum) * (x / (sum - 1.0f));
}

template <typename T>
METALLOID_FUNC T conj(T a) {
  if constexpr (is_complex_v<T>) {
    return T(a.x, -a.y);
  } else {
    return a;
  }
}

// sqrt(a^2 + b^2) without overflow or underflow of the squares.
METALLOID_FUNC float hypot(float a, float b) {
  const float larger = ::metal::max(::metal::abs(a), ::metal::abs(b));
  const float smaller = ::metal::min(::metal::abs(a), ::metal::abs(b));
  if (larger == INFINITY) return INFINITY;
  if (a != a || b != b) return NAN;
  if (smaller == 0) return larger;
  const float ratio = smaller / larger;
  return larger * ::metal::precise::sqrt(1.0f + ratio * ratio);
}

// log|1 + z| = log1p(2x + x^2 + y^2) / 2.
METALLOID_FUNC float2 log1p(float2 z) {
  const float angle = ::metal::precise::atan2(z.y, 1.0f + z.x);
  const float excess = ::metal::fma(z.x, z.x + 2.0f, z.y * z.y);
  if (::metal::abs(excess) < 0.5f) return float2(0.5f * log1p(excess), angle);
  return float2(::metal::precise::log(hypot(1.0f + z.x, z.y)), angle);
}

// Copies in the widest pieces that both addresses allow.
inline void copy_bytes_aligned(device uchar* to, device const uchar* from, uint bytes) {
  const ulong misalignment = reinterpret_cast<ulong>(to) | reinterpret_cast<ulong>(from);
  uint done = 0;
#define METALLOID_COPY(type)                                                                           \
  if (misalignment % sizeof(type) == 0) {                                                              \
    for (; done + sizeof(type) <= bytes; done += sizeof(type)) {                                       \
      *reinterpret_cast<device type*>(to + done) = *reinterpret_cast<device const type*>(from + done); \
    }                                                                                                  \
  }
  METALLOID_COPY(uint4)
  METALLOID_COPY(uint2)
  METALLOID_COPY(uint)
  METALLOID_COPY(ushort)
  METALLOID_COPY(uchar)
#undef METALLOID_COPY
}

}  // namespace metal
}  // namespace c10

#define INSTANTIATE_FOR_FLOAT_TYPES(MACRO) \
  MACRO(float);                            \
  MACRO(half);                             \
  MACRO(bfloat);

#define INSTANTIATE_FOR_ALL_TYPES(MACRO) \
  MACRO(float);                          \
  MACRO(half);                           \
  MACRO(bfloat);                         \
  MACRO(float2);                         \
  MACRO(long);                           \
  MACRO(char);                           \
  MACRO(uchar);                          \
  MACRO(short);                          \
  MACRO(int);

#endif
