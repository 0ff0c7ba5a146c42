// Relational functions (MSL spec §6.6).
#ifndef METALLOID_RELATIONAL_H
#define METALLOID_RELATIONAL_H

#include <metalloid/promote.h>

namespace __metalloid {

// A floating-point number's bits without the sign, and what infinity and the smallest normal number look like.
METALLOID_FUNC constexpr uint magnitude(float x) { return __builtin_bit_cast(uint, x) & 0x7fffffffu; }
METALLOID_FUNC constexpr ushort magnitude(half x) { return __builtin_bit_cast(ushort, x) & 0x7fffu; }
METALLOID_FUNC constexpr uint infinity_bits(float) { return 0x7f800000u; }
METALLOID_FUNC constexpr ushort infinity_bits(half) { return 0x7c00u; }
METALLOID_FUNC constexpr uint normal_bits(float) { return 0x00800000u; }
METALLOID_FUNC constexpr ushort normal_bits(half) { return 0x0400u; }

// The signed integer of a size in bytes.
template <int size>
using sized_word_t =
    metal::conditional_t<size == 1, signed char,
                         metal::conditional_t<size == 2, short, metal::conditional_t<size == 4, int, long>>>;

template <typename... A>
struct bool_vector {};
template <typename T, int N>
struct bool_vector<metal::vec<T, N>> {
  using type = metal::vec<bool, N>;
};
template <typename... A>
using bool_result_t = typename bool_vector<typename common_vector<A...>::type>::type;

}  // namespace __metalloid

namespace metal {

#define METALLOID_TEST_1(name, expression)                           \
  METALLOID_FUNC constexpr bool name(float x) { return expression; } \
  METALLOID_FUNC constexpr bool name(half x) { return expression; }  \
  template <typename T, __metalloid::if_integral_t<T> = 0>           \
  METALLOID_FUNC constexpr bool name(T x) {                          \
    return name(float(x));                                           \
  }                                                                  \
  template <typename A, typename R = __metalloid::bool_result_t<A>>  \
  METALLOID_FUNC constexpr R name(A a) {                             \
    METALLOID_ELEMENTWISE_1(R, name);                                \
  }
#define METALLOID_TEST_2(name, expression)                                    \
  METALLOID_FUNC constexpr bool name(float x, float y) { return expression; } \
  METALLOID_FUNC constexpr bool name(half x, half y) { return expression; }   \
  template <typename A, typename R = __metalloid::bool_result_t<A, A>>        \
  METALLOID_FUNC constexpr R name(A a, A b) {                                 \
    METALLOID_ELEMENTWISE_2(R, name);                                         \
  }

METALLOID_TEST_1(isfinite, __metalloid::magnitude(x) < __metalloid::infinity_bits(x))
METALLOID_TEST_1(isinf, __metalloid::magnitude(x) == __metalloid::infinity_bits(x))
METALLOID_TEST_1(isnan, __metalloid::magnitude(x) > __metalloid::infinity_bits(x))
METALLOID_TEST_1(isnormal, __metalloid::magnitude(x) >= __metalloid::normal_bits(x) &&
                               __metalloid::magnitude(x) < __metalloid::infinity_bits(x))
METALLOID_FUNC constexpr bool signbit(float x) { return __builtin_bit_cast(int, x) < 0; }
METALLOID_FUNC constexpr bool signbit(half x) { return __builtin_bit_cast(short, x) < 0; }
template <typename T, __metalloid::if_integral_t<T> = 0>
METALLOID_FUNC constexpr bool signbit(T x) {
  return x < T(0);
}
template <typename A, typename R = __metalloid::bool_result_t<A>>
METALLOID_FUNC constexpr R signbit(A a) {
  METALLOID_ELEMENTWISE_1(R, signbit);
}
METALLOID_TEST_2(isordered, !isnan(x) && !isnan(y))
METALLOID_TEST_2(isunordered, isnan(x) || isnan(y))
#undef METALLOID_TEST_1
#undef METALLOID_TEST_2

METALLOID_FUNC constexpr bool all(bool x) { return x; }
METALLOID_FUNC constexpr bool all(vec<bool, 2> v) { return v.x && v.y; }
METALLOID_FUNC constexpr bool all(vec<bool, 3> v) { return v.x && v.y && v.z; }
METALLOID_FUNC constexpr bool all(vec<bool, 4> v) { return v.x && v.y && v.z && v.w; }
METALLOID_FUNC constexpr bool any(bool x) { return x; }
METALLOID_FUNC constexpr bool any(vec<bool, 2> v) { return v.x || v.y; }
METALLOID_FUNC constexpr bool any(vec<bool, 3> v) { return v.x || v.y || v.z; }
METALLOID_FUNC constexpr bool any(vec<bool, 4> v) { return v.x || v.y || v.z || v.w; }
// `not` is an operator in C++: `not(v)` works as !v.

// select(a, b, c): c ? b : a
template <typename T, enable_if_t<!__metalloid::is_vector<T>, int> = 0>
METALLOID_FUNC constexpr T select(T a, T b, bool c) {
  if (c) return b;
  return a;
}
template <typename A, typename B,
          enable_if_t<!__is_same(A, B) && __metalloid::is_scalar<A> && __metalloid::is_scalar<B>, int> = 0>
METALLOID_FUNC constexpr auto select(A a, B b, bool c) {
  using R = decltype(a + b);
  return c ? R(b) : R(a);
}
template <typename A, typename B, typename R = __metalloid::vector_result_t<A, B>>
METALLOID_FUNC constexpr R select(A a, B b, bool c) {
  if (c) return R(b);
  return R(a);
}
template <typename A, typename B, int N, typename R = __metalloid::vector_result_t<A, B>>
METALLOID_FUNC constexpr R select(A a_, B b_, vec<bool, N> c) {
  static_assert(__metalloid::shape<R>::lanes == N, "select needs one condition per component");
  const R a = R(a_), b = R(b_);
  if (!METALLOID_CONSTANT_EVALUATED) {
    using Words = __metalloid::native_t<__metalloid::sized_word_t<sizeof(typename __metalloid::shape<R>::element)>, N>;
    return R(__builtin_convertvector(c.__native, Words) != 0 ? b.__native : a.__native, __metalloid::native_tag());
  }
  R result = a;
  if (c.x) result.x = b.x;
  if (c.y) result.y = b.y;
  if constexpr (N > 2) {
    if (c.z) result.z = b.z;
  }
  if constexpr (N > 3) {
    if (c.w) result.w = b.w;
  }
  return result;
}

}  // namespace metal

#endif
