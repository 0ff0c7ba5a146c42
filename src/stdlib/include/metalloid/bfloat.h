// bfloat: 16 bits, the upper half of a float (MSL spec §2.1). Clang's __bf16 takes floats implicitly and does not
// convert to half, so bfloat is a class. Arithmetic is float arithmetic rounded once, to nearest even.
#ifndef METALLOID_BFLOAT_H
#define METALLOID_BFLOAT_H

#include <metalloid/type_traits.h>

namespace __metalloid {

METALLOID_FUNC constexpr ushort bfloat_bits(float value) {
  const uint bits = __builtin_bit_cast(uint, value);
  // Rounding must not carry a NaN over into infinity; a NaN keeps its sign and becomes quiet.
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const uint rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return ushort((is_nan ? (bits | 0x400000u) : rounded) >> 16);
}

METALLOID_FUNC constexpr float bfloat_value(ushort bits) { return __builtin_bit_cast(float, uint(bits) << 16); }

// An integer as a float that rounds to the bfloat which is nearest to the integer: what a float has no room for is kept
// in its last bit, so that nothing becomes the middle of two bfloats.
template <typename T>
METALLOID_FUNC constexpr float float_to_round(T value) {
  if constexpr (sizeof(T) < 4) {
    return float(value);
  } else if constexpr (sizeof(T) == 4) {
    const uint magnitude = uint(value < T(0) ? T(0) - value : value);
    return float(magnitude < 0x1000000u ? value : T((value & ~T(0x1ff)) | T((value & T(0x1ff)) != 0 ? 0x100 : 0)));
  } else {
    const ulong magnitude = ulong(value < T(0) ? T(0) - value : value);
    const int lost = magnitude < 0x1000000ul ? 0 : 40 - __builtin_clzll(magnitude);
    const ulong kept = (magnitude >> lost) | ulong((magnitude & ((1ul << lost) - 1)) != 0);
    const float result = float(kept << lost);
    return value < T(0) ? -result : result;
  }
}

template <typename T>
using if_integral = metal::enable_if_t<__is_integral(T), int>;
struct no_number {};
template <typename T>
using if_other_class = metal::enable_if_t<__is_class(T) && !__is_same(T, bfloat) && __is_convertible(T, float) &&
                                              !__is_convertible(T, no_number),  // nor everything else
                                          int>;
// A class, in any address space, that converts to bool but not to bfloat.
template <typename T>
using if_truth =
    metal::enable_if_t<__is_class(__remove_cvref(T)) && !__is_convertible(T, bfloat) && __is_convertible(T, bool), int>;

}  // namespace __metalloid

class bfloat {
 public:
  bfloat() = default;
  METALLOID_FUNC explicit constexpr bfloat(float value) : bits_(__metalloid::bfloat_bits(value)) {}
  METALLOID_FUNC explicit constexpr bfloat(double value) : bfloat(float(value)) {}
  METALLOID_FUNC explicit constexpr bfloat(half value) : bits_(__metalloid::bfloat_bits(float(value))) {}
  template <typename T, __metalloid::if_integral<T> = 0>
  METALLOID_FUNC constexpr bfloat(T value) : bits_(__metalloid::bfloat_bits(__metalloid::float_to_round(value))) {}

  // A class with a conversion of its own to some number.
  template <typename T, __metalloid::if_other_class<T> = 0>
  METALLOID_FUNC explicit constexpr bfloat(T value) : bfloat(static_cast<float>(value)) {}

  // `b = mask` where mask's class converts to bool: a number takes two conversions, which a class does not get.
  template <typename T, __metalloid::if_truth<T> = 0>
  METALLOID_FUNC constexpr bfloat& operator=(T&& value) {
    return *this = bfloat(int(bool(value)));
  }

  METALLOID_FUNC constexpr operator float() const { return __metalloid::bfloat_value(bits_); }

  METALLOID_FUNC static constexpr bfloat from_bits(ushort bits) {
    bfloat result(0);
    result.bits_ = bits;
    return result;
  }
  METALLOID_FUNC constexpr ushort bits() const { return bits_; }

  METALLOID_FUNC constexpr bfloat operator-() const { return from_bits(bits_ ^ 0x8000u); }
  METALLOID_FUNC constexpr bfloat operator+() const { return *this; }

// bfloat with bfloat or an integer gives bfloat; with float it gives float.
#define METALLOID_BFLOAT_ARITHMETIC(op)                                                                           \
  METALLOID_FUNC friend constexpr bfloat operator op(bfloat a, bfloat b) { return bfloat(float(a) op float(b)); } \
  METALLOID_FUNC friend constexpr float operator op(bfloat a, float b) { return float(a) op b; }                  \
  METALLOID_FUNC friend constexpr float operator op(float a, bfloat b) { return a op float(b); }                  \
  METALLOID_FUNC friend constexpr float operator op(bfloat a, half b) { return float(a) op b; }                   \
  METALLOID_FUNC friend constexpr float operator op(half a, bfloat b) { return a op float(b); }                   \
  template <typename T, __metalloid::if_integral<T> = 0>                                                          \
  METALLOID_FUNC friend constexpr bfloat operator op(bfloat a, T b) {                                             \
    return a op bfloat(b);                                                                                        \
  }                                                                                                               \
  template <typename T, __metalloid::if_integral<T> = 0>                                                          \
  METALLOID_FUNC friend constexpr bfloat operator op(T a, bfloat b) {                                             \
    return bfloat(a) op b;                                                                                        \
  }                                                                                                               \
  template <typename T>                                                                                           \
  METALLOID_FUNC constexpr bfloat& operator op## = (T other) {                                                    \
    *this = bfloat(*this op other);                                                                               \
    return *this;                                                                                                 \
  }
  METALLOID_BFLOAT_ARITHMETIC(+)
  METALLOID_BFLOAT_ARITHMETIC(-)
  METALLOID_BFLOAT_ARITHMETIC(*)
  METALLOID_BFLOAT_ARITHMETIC(/)
#undef METALLOID_BFLOAT_ARITHMETIC

#define METALLOID_BFLOAT_COMPARISON(op)                                                                 \
  METALLOID_FUNC friend constexpr bool operator op(bfloat a, bfloat b) { return float(a) op float(b); } \
  METALLOID_FUNC friend constexpr bool operator op(bfloat a, float b) { return float(a) op b; }         \
  METALLOID_FUNC friend constexpr bool operator op(float a, bfloat b) { return a op float(b); }         \
  METALLOID_FUNC friend constexpr bool operator op(bfloat a, half b) { return float(a) op b; }          \
  METALLOID_FUNC friend constexpr bool operator op(half a, bfloat b) { return a op float(b); }          \
  template <typename T, __metalloid::if_integral<T> = 0>                                                \
  METALLOID_FUNC friend constexpr bool operator op(bfloat a, T b) {                                     \
    return float(a) op float(b);                                                                        \
  }                                                                                                     \
  template <typename T, __metalloid::if_integral<T> = 0>                                                \
  METALLOID_FUNC friend constexpr bool operator op(T a, bfloat b) {                                     \
    return float(a) op float(b);                                                                        \
  }
  METALLOID_BFLOAT_COMPARISON(==)
  METALLOID_BFLOAT_COMPARISON(!=)
  METALLOID_BFLOAT_COMPARISON(<)
  METALLOID_BFLOAT_COMPARISON(<=)
  METALLOID_BFLOAT_COMPARISON(>)
  METALLOID_BFLOAT_COMPARISON(>=)
#undef METALLOID_BFLOAT_COMPARISON

  METALLOID_FUNC constexpr bfloat& operator++() { return *this += 1; }
  METALLOID_FUNC constexpr bfloat& operator--() { return *this -= 1; }
  METALLOID_FUNC constexpr bfloat operator++(int) {
    const bfloat old = *this;
    *this += 1;
    return old;
  }
  METALLOID_FUNC constexpr bfloat operator--(int) {
    const bfloat old = *this;
    *this -= 1;
    return old;
  }

 private:
  ushort bits_;
};

// What the literal 1.0bf becomes.
METALLOID_FUNC constexpr bfloat __metalloid_bfloat_literal(float value) { return bfloat(value); }

namespace metal {
using ::bfloat;
}

#endif
