// Integer functions (MSL spec §6.4) beyond min, max, abs and clamp.
#ifndef METALLOID_INTEGER_H
#define METALLOID_INTEGER_H

#include <metalloid/common.h>

namespace __metalloid {

template <typename T>
using unsigned_t = __make_unsigned(T);

// A type twice as wide, for products and sums that must not overflow.
template <typename T, int size = sizeof(T)>
struct wider {
  using type = metal::conditional_t<(T(-1) < T(0)), long, ulong>;
};
template <typename T>
using wider_t = typename wider<T>::type;

template <typename T>
constexpr int bits_of = int(sizeof(T) * 8);

// The upper half of a product of two 64-bit numbers, by halves.
METALLOID_FUNC constexpr ulong multiply_high(ulong a, ulong b) {
  const ulong a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const ulong middle = a1 * b0 + ((a0 * b0) >> 32);
  return a1 * b1 + (middle >> 32) + (((middle & 0xffffffffu) + a0 * b1) >> 32);
}
METALLOID_FUNC constexpr long multiply_high(long a, long b) {
  return long(multiply_high(ulong(a), ulong(b)) - (a < 0 ? ulong(b) : 0ul) - (b < 0 ? ulong(a) : 0ul));
}

template <typename T, bool condition = __is_integral(T)>
struct integral_result {};
template <typename T>
struct integral_result<T, true> {
  using type = T;
};

// Result of a function of integers: all scalars of one type, scalars mixed (C++'s conversions), or vectors.
template <typename Vector, bool integers, typename... A>
struct integer_result {};
template <typename T, int N, bool integers, typename... A>
struct integer_result<metal::vec<T, N>, integers, A...> {
  using type = metal::vec<T, N>;
};
template <typename A, typename... Rest>
struct integer_result<none, true, A, Rest...> {
  using type = typename metal::conditional<all_same<A, Rest...>, A, decltype((A() + ... + Rest()))>::type;
};
template <typename... A>
using integer_result_t =
    typename integer_result<typename common_vector<A...>::type, (__is_integral(A) && ...), A...>::type;

template <typename T>
METALLOID_FUNC constexpr unsigned_t<T> absdiff(T x, T y) {
  return x < y ? unsigned_t<T>(y) - unsigned_t<T>(x) : unsigned_t<T>(x) - unsigned_t<T>(y);
}
template <typename T>
METALLOID_FUNC constexpr T addsat(T x, T y) {
  return __builtin_elementwise_add_sat(x, y);
}
template <typename T>
METALLOID_FUNC constexpr T subsat(T x, T y) {
  return __builtin_elementwise_sub_sat(x, y);
}
template <typename T>
METALLOID_FUNC constexpr T clz(T x) {
  return T(__builtin_clzg(unsigned_t<T>(x), bits_of<T>));
}
template <typename T>
METALLOID_FUNC constexpr T ctz(T x) {
  return T(__builtin_ctzg(unsigned_t<T>(x), bits_of<T>));
}
template <typename T>
METALLOID_FUNC constexpr T popcount(T x) {
  return T(__builtin_popcountg(unsigned_t<T>(x)));
}
template <typename T>
METALLOID_FUNC constexpr T reverse_bits(T x) {
  return T(__builtin_elementwise_bitreverse(unsigned_t<T>(x)));
}
template <typename T>
METALLOID_FUNC constexpr T hadd(T x, T y) {
  return T((x & y) + ((x ^ y) >> 1));
}
template <typename T>
METALLOID_FUNC constexpr T rhadd(T x, T y) {
  return T((x | y) - ((x ^ y) >> 1));
}
template <typename T>
METALLOID_FUNC constexpr T mulhi(T x, T y) {
  if constexpr (sizeof(T) == 8)
    return multiply_high(x, y);
  else
    return T((wider_t<T>(x) * wider_t<T>(y)) >> bits_of<T>);
}
template <typename T>
METALLOID_FUNC constexpr T madhi(T a, T b, T c) {
  return T(unsigned_t<T>(mulhi(a, b)) + unsigned_t<T>(c));
}
template <typename T>
METALLOID_FUNC constexpr T madsat(T a, T b, T c) {
  // Saturate the sum of the whole product and c, not the product first.
  if constexpr (sizeof(T) == 8) {
    const ulong low = ulong(a) * ulong(b), sum = low + ulong(c);
    T high = T(ulong(mulhi(a, b)) + (sum < low ? 1ul : 0ul));
    if constexpr (T(-1) < T(0)) {
      if (c < 0) high = T(ulong(high) - 1ul);
      if (high == (long(sum) < 0 ? -1l : 0l)) return T(sum);
      return high < 0 ? LONG_MIN : LONG_MAX;
    } else {
      return high == 0 ? T(sum) : ULONG_MAX;
    }
  } else {
    using Wide = wider_t<T>;
    const Wide sum = Wide(a) * Wide(b) + Wide(c);
    const Wide low = T(-1) < T(0) ? -(Wide(1) << (bits_of<T> - 1)) : Wide(0);
    const Wide high = T(-1) < T(0) ? (Wide(1) << (bits_of<T> - 1)) - 1 : (Wide(1) << bits_of<T>)-1;
    return T(sum < low ? low : sum > high ? high : sum);
  }
}
template <typename T>
METALLOID_FUNC constexpr T mul24(T x, T y) {
  // Only the lower 24 bits count (sign-extended for int).
  return T(uint(T(uint(x) << 8) >> 8) * uint(T(uint(y) << 8) >> 8));
}
template <typename T>
METALLOID_FUNC constexpr T mad24(T x, T y, T z) {
  return T(uint(mul24(x, y)) + uint(z));
}
template <typename T>
METALLOID_FUNC constexpr T rotate(T x, T count) {
  const uint left = uint(count) & (bits_of<T> - 1), right = (bits_of<T> - left) & (bits_of<T> - 1);
  return T((unsigned_t<T>(x) << left) | (unsigned_t<T>(x) >> right));
}
template <typename T>
METALLOID_FUNC constexpr unsigned_t<T> low_mask(uint bits) {
  return bits >= bits_of<T> ? unsigned_t<T>(~unsigned_t<T>(0)) : unsigned_t<T>((unsigned_t<T>(1) << bits) - 1);
}
template <typename T>
METALLOID_FUNC constexpr T extract_bits(T x, uint offset, uint bits) {
  if (bits == 0 || offset >= bits_of<T>) return T(0);
  const uint unused = bits >= bits_of<T> ? 0 : bits_of<T> - bits;
  return T(T((unsigned_t<T>(x) >> offset) << unused) >> unused);
}
template <typename T>
METALLOID_FUNC constexpr T insert_bits(T base, T insert, uint offset, uint bits) {
  if (offset >= bits_of<T>) return base;
  const unsigned_t<T> mask = unsigned_t<T>(low_mask<T>(bits) << offset);
  return T((unsigned_t<T>(base) & unsigned_t<T>(~mask)) | (unsigned_t<T>(unsigned_t<T>(insert) << offset) & mask));
}

}  // namespace __metalloid

// Scalars call the function in __metalloid; vectors go through it component by component.
#define METALLOID_INTEGER_1(name)                                      \
  template <typename A, typename R = __metalloid::integer_result_t<A>> \
  METALLOID_FUNC constexpr R name(A a) {                               \
    METALLOID_ELEMENTWISE_OR_SCALAR(R, 1, __metalloid::name)           \
  }
#define METALLOID_INTEGER_2(name)                                                     \
  template <typename A, typename B, typename R = __metalloid::integer_result_t<A, B>> \
  METALLOID_FUNC constexpr R name(A a_, B b_) {                                       \
    const R a = R(a_), b = R(b_);                                                     \
    METALLOID_ELEMENTWISE_OR_SCALAR(R, 2, __metalloid::name)                          \
  }
#define METALLOID_INTEGER_3(name)                                                                    \
  template <typename A, typename B, typename C, typename R = __metalloid::integer_result_t<A, B, C>> \
  METALLOID_FUNC constexpr R name(A a_, B b_, C c_) {                                                \
    const R a = R(a_), b = R(b_), c = R(c_);                                                         \
    METALLOID_ELEMENTWISE_OR_SCALAR(R, 3, __metalloid::name)                                         \
  }
#define METALLOID_SCALARS_1(F) F(a)
#define METALLOID_SCALARS_2(F) F(a, b)
#define METALLOID_SCALARS_3(F) F(a, b, c)
#define METALLOID_ELEMENTWISE_OR_SCALAR(R, count, F) \
  if constexpr (__metalloid::is_vector<R>) {         \
    METALLOID_ELEMENTWISE_##count(R, F);             \
  } else {                                           \
    return METALLOID_SCALARS_##count(F);             \
  }

namespace metal {

METALLOID_INTEGER_2(addsat)
METALLOID_INTEGER_2(subsat)
METALLOID_INTEGER_1(clz)
METALLOID_INTEGER_1(ctz)
METALLOID_INTEGER_1(popcount)
METALLOID_INTEGER_1(reverse_bits)
METALLOID_INTEGER_2(hadd)
METALLOID_INTEGER_2(rhadd)
METALLOID_INTEGER_2(mulhi)
METALLOID_INTEGER_3(madhi)
METALLOID_INTEGER_3(madsat)
METALLOID_INTEGER_2(mul24)
METALLOID_INTEGER_3(mad24)
METALLOID_INTEGER_2(rotate)

template <typename T, __metalloid::if_integral_t<T> = 0>
METALLOID_FUNC constexpr auto absdiff(T x, T y) {
  return __metalloid::absdiff(x, y);
}
template <typename T, int N>
METALLOID_FUNC constexpr auto absdiff(vec<T, N> a, vec<T, N> b) {
  using R = vec<__make_unsigned(T), N>;
  METALLOID_ELEMENTWISE_2(R, __metalloid::absdiff);
}

template <typename A, typename R = __metalloid::integer_result_t<A>>
METALLOID_FUNC constexpr R extract_bits(A a, uint offset, uint bits) {
#define METALLOID_EXTRACT(x) __metalloid::extract_bits(x, offset, bits)
  if constexpr (__metalloid::is_vector<R>) {
    METALLOID_ELEMENTWISE_1(R, METALLOID_EXTRACT);
  } else {
    return METALLOID_EXTRACT(a);
  }
#undef METALLOID_EXTRACT
}
template <typename A, typename B, typename R = __metalloid::integer_result_t<A, B>>
METALLOID_FUNC constexpr R insert_bits(A base, B insert, uint offset, uint bits) {
  const R a = R(base), b = R(insert);
#define METALLOID_INSERT(x, y) __metalloid::insert_bits(x, y, offset, bits)
  if constexpr (__metalloid::is_vector<R>) {
    METALLOID_ELEMENTWISE_2(R, METALLOID_INSERT);
  } else {
    return METALLOID_INSERT(a, b);
  }
#undef METALLOID_INSERT
}

}  // namespace metal

#endif
