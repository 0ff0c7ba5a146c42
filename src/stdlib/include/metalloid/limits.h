// numeric_limits<T> for every scalar type (as in C++'s <limits>).
#ifndef METALLOID_LIMITS_H
#define METALLOID_LIMITS_H

#include <metalloid/constants.h>

namespace metal {

enum float_round_style {
  round_indeterminate = -1,
  round_toward_zero = 0,
  round_to_nearest = 1,
  round_toward_infinity = 2,
  round_toward_neg_infinity = 3
};
enum float_denorm_style { denorm_indeterminate = -1, denorm_absent = 0, denorm_present = 1 };

}  // namespace metal

namespace __metalloid {

struct no_limits {
  static constexpr constant bool is_specialized = false;
};

template <typename T>
struct integer_limits {
  static constexpr constant bool is_specialized = true;
  static constexpr constant bool is_signed = T(-1) < T(0);
  static constexpr constant bool is_integer = true;
  static constexpr constant bool is_exact = true;
  static constexpr constant bool has_infinity = false;
  static constexpr constant bool has_quiet_NaN = false;
  static constexpr constant bool has_signaling_NaN = false;
  static constexpr constant bool has_denorm_loss = false;
  static constexpr constant metal::float_denorm_style has_denorm = metal::denorm_absent;
  static constexpr constant metal::float_round_style round_style = metal::round_toward_zero;
  static constexpr constant bool is_iec559 = false;
  static constexpr constant bool is_bounded = true;
  static constexpr constant bool is_modulo = !is_signed;
  static constexpr constant bool traps = false;
  static constexpr constant bool tinyness_before = false;
  static constexpr constant int digits = __is_same(T, bool) ? 1 : int(sizeof(T) * 8) - (is_signed ? 1 : 0);
  static constexpr constant int digits10 = digits * 643 / 2136;
  static constexpr constant int max_digits10 = 0;
  static constexpr constant int radix = 2;
  static constexpr constant int min_exponent = 0;
  static constexpr constant int min_exponent10 = 0;
  static constexpr constant int max_exponent = 0;
  static constexpr constant int max_exponent10 = 0;
  METALLOID_FUNC static constexpr T min() { return is_signed ? T(T(1) << digits) : T(0); }
  METALLOID_FUNC static constexpr T max() {
    if constexpr (__is_same(T, bool))
      return true;
    else
      return T(~min());
  }
  METALLOID_FUNC static constexpr T lowest() { return min(); }
  METALLOID_FUNC static constexpr T epsilon() { return T(0); }
  METALLOID_FUNC static constexpr T round_error() { return T(0); }
  METALLOID_FUNC static constexpr T infinity() { return T(0); }
  METALLOID_FUNC static constexpr T quiet_NaN() { return T(0); }
  METALLOID_FUNC static constexpr T signaling_NaN() { return T(0); }
  METALLOID_FUNC static constexpr T denorm_min() { return T(0); }
};

template <typename T, int mantissa_bits, int exponent_max>
struct floating_limits {
  static constexpr constant bool is_specialized = true;
  static constexpr constant bool is_signed = true;
  static constexpr constant bool is_integer = false;
  static constexpr constant bool is_exact = false;
  static constexpr constant bool has_infinity = true;
  static constexpr constant bool has_quiet_NaN = true;
  static constexpr constant bool has_signaling_NaN = true;
  static constexpr constant bool has_denorm_loss = false;
  static constexpr constant metal::float_denorm_style has_denorm = metal::denorm_present;
  static constexpr constant metal::float_round_style round_style = metal::round_to_nearest;
  static constexpr constant bool is_iec559 = true;
  static constexpr constant bool is_bounded = true;
  static constexpr constant bool is_modulo = false;
  static constexpr constant bool traps = false;
  static constexpr constant bool tinyness_before = false;
  static constexpr constant int digits = mantissa_bits;
  static constexpr constant int digits10 = (mantissa_bits - 1) * 643 / 2136;
  static constexpr constant int max_digits10 = 2 + mantissa_bits * 643 / 2136;
  static constexpr constant int radix = 2;
  static constexpr constant int max_exponent = exponent_max;
  static constexpr constant int min_exponent = 3 - exponent_max;
  static constexpr constant int max_exponent10 = exponent_max * 643 / 2136;
  static constexpr constant int min_exponent10 = (2 - exponent_max) * 643 / 2136;
  METALLOID_FUNC static constexpr T infinity() { return T(__builtin_inff()); }
  METALLOID_FUNC static constexpr T quiet_NaN() { return T(__builtin_nanf("")); }
  METALLOID_FUNC static constexpr T signaling_NaN() { return T(__builtin_nanf("")); }
  METALLOID_FUNC static constexpr T round_error() { return T(0.5f); }
};

}  // namespace __metalloid

namespace metal {

// Public kernels specialise this internal name of Metal's own library for types of theirs.
template <typename T>
struct _numeric_limits_impl : __metalloid::no_limits {};

#define METALLOID_INTEGER_LIMITS(T) \
  template <>                       \
  struct _numeric_limits_impl<T> : __metalloid::integer_limits<T> {};
METALLOID_INTEGER_LIMITS(bool)
METALLOID_INTEGER_LIMITS(char)
METALLOID_INTEGER_LIMITS(signed char)
METALLOID_INTEGER_LIMITS(uchar)
METALLOID_INTEGER_LIMITS(short)
METALLOID_INTEGER_LIMITS(ushort)
METALLOID_INTEGER_LIMITS(int)
METALLOID_INTEGER_LIMITS(uint)
METALLOID_INTEGER_LIMITS(long)
METALLOID_INTEGER_LIMITS(ulong)
#undef METALLOID_INTEGER_LIMITS

#define METALLOID_FLOATING_LIMITS(T, mantissa_bits, exponent_max, largest, smallest, step, tiniest) \
  template <>                                                                                       \
  struct _numeric_limits_impl<T> : __metalloid::floating_limits<T, mantissa_bits, exponent_max> {   \
    METALLOID_FUNC static constexpr T min() { return T(smallest); }                                 \
    METALLOID_FUNC static constexpr T max() { return T(largest); }                                  \
    METALLOID_FUNC static constexpr T lowest() { return T(-largest); }                              \
    METALLOID_FUNC static constexpr T epsilon() { return T(step); }                                 \
    METALLOID_FUNC static constexpr T denorm_min() { return T(tiniest); }                           \
  };
METALLOID_FLOATING_LIMITS(float, 24, 128, 0x1.fffffep127f, 0x1p-126f, 0x1p-23f, 0x1p-149f)
METALLOID_FLOATING_LIMITS(half, 11, 16, 0x1.ffcp15f, 0x1p-14f, 0x1p-10f, 0x1p-24f)
METALLOID_FLOATING_LIMITS(bfloat, 8, 128, 0x1.fep127f, 0x1p-126f, 0x1p-7f, 0x1p-133f)
#undef METALLOID_FLOATING_LIMITS

template <typename T>
struct numeric_limits : _numeric_limits_impl<__remove_cv(T)> {};

// A vector's limits are vectors of its elements'.
template <typename T, int N>
class vec;
template <typename T, int N>
struct _numeric_limits_impl<vec<T, N>> {
  static constexpr constant bool is_specialized = numeric_limits<T>::is_specialized;
#define METALLOID_VECTOR_LIMIT(name) \
  METALLOID_FUNC static constexpr vec<T, N> name() { return vec<T, N>(numeric_limits<T>::name()); }
  METALLOID_VECTOR_LIMIT(min)
  METALLOID_VECTOR_LIMIT(max)
  METALLOID_VECTOR_LIMIT(lowest)
  METALLOID_VECTOR_LIMIT(epsilon)
  METALLOID_VECTOR_LIMIT(infinity)
  METALLOID_VECTOR_LIMIT(quiet_NaN)
  METALLOID_VECTOR_LIMIT(denorm_min)
#undef METALLOID_VECTOR_LIMIT
};

}  // namespace metal

#endif
