// How library functions treat their arguments. Each has plain overloads for float and half (and integers); one
// template beside them takes what those do not match exactly: vectors, scalars mixed with vectors, scalars of
// different types (pow(float, half), fmax(0, x), clamp(half, float, float)). Plain overloads and the user's own
// win over the template.
#ifndef METALLOID_PROMOTE_H
#define METALLOID_PROMOTE_H

#include <metalloid/type_names.h>

namespace __metalloid {

struct none {};

template <typename T>
constexpr bool is_vector = shape<T>::is_vector;
template <typename T>
constexpr bool is_scalar = __is_arithmetic(T) || __is_same(T, bfloat);

// The vector type among the arguments: all vectors must agree; none if there is no vector.
template <typename... A>
struct common_vector {
  using type = none;
};
template <typename A, typename... Rest>
struct common_vector<A, Rest...> {
  using rest = typename common_vector<Rest...>::type;
  using own = metal::conditional_t<is_vector<A>, typename shape<A>::vector, none>;
  static constexpr bool conflict = is_vector<A> && !__is_same(rest, none) && !__is_same(rest, own);
  using type = metal::conditional_t<conflict, void, metal::conditional_t<is_vector<A>, own, rest>>;
};

// Scalars: any float or bfloat makes a float; else half wins; integers alone count as float.
template <typename... A>
constexpr bool any_float = ((__is_same(A, float) || __is_same(A, bfloat)) || ...);
template <typename... A>
constexpr bool any_half = ((__is_same(A, half)) || ...);
template <typename T, typename... A>
constexpr bool all_same = (__is_same(T, A) && ...);

template <typename Vector, bool scalars, typename... A>
struct float_result {};
template <bool scalars, typename... A>
struct float_result<none, scalars, A...> {};
template <typename... A>
struct float_result<none, true, A...> {
  using type = metal::conditional_t<!any_float<A...> && any_half<A...>, half, float>;
};
template <typename T, int N, bool scalars, typename... A>
struct float_result<metal::vec<T, N>, scalars, A...> {
  using type = metal::vec<T, N>;
};

// Plain overloads exist for all-float and all-half; bfloats reach the float one by conversion.
template <typename T, typename... A>
constexpr bool has_plain_float =
    all_same<T, A...> && (__is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat));
template <typename... A>
using float_result_t = typename float_result<typename common_vector<A...>::type,
                                             (is_scalar<A> && ...) && !has_plain_float<A...>, A...>::type;

// The same for functions that also know integers: integers alone follow C++'s arithmetic conversions.
template <typename Vector, bool scalars, bool integers, typename... A>
struct number_result : float_result<Vector, scalars, A...> {};
template <typename... A>
struct number_result<none, true, true, A...> {
  using type = decltype((A() + ...));
};
template <typename T, typename... A>
constexpr bool has_plain_number = has_plain_float<T, A...> || (all_same<T, A...> && __is_integral(T));
template <typename... A>
using number_result_t =
    typename number_result<typename common_vector<A...>::type, (is_scalar<A> && ...) && !has_plain_number<A...>,
                           (__is_integral(A) && ...), A...>::type;

// Vectors only.
template <typename... A>
using vector_result_t = typename float_result<typename common_vector<A...>::type, false, A...>::type;

// Vectors of floating-point numbers only.
template <typename Vector, bool floating = metal::is_floating_point_v<typename shape<Vector>::element>>
struct floating_vector {};
template <typename Vector>
struct floating_vector<Vector, true> {
  using type = Vector;
};
template <typename... A>
using floating_vector_result_t = typename floating_vector<vector_result_t<A...>>::type;

template <typename T>
using if_integral_t = metal::enable_if_t<__is_integral(T), int>;

}  // namespace __metalloid

// One template per function and number of arguments; RESULT is one of the *_result_t above.
#define METALLOID_MIXED_1(name, RESULT)                      \
  template <typename A, typename R = __metalloid::RESULT<A>> \
  METALLOID_FUNC constexpr R name(A a_) {                    \
    const R a = R(a_);                                       \
    if constexpr (__metalloid::is_vector<R>) {               \
      METALLOID_ELEMENTWISE_1(R, name);                      \
    } else {                                                 \
      return name(a);                                        \
    }                                                        \
  }
#define METALLOID_MIXED_2(name, RESULT)                                     \
  template <typename A, typename B, typename R = __metalloid::RESULT<A, B>> \
  METALLOID_FUNC constexpr R name(A a_, B b_) {                             \
    const R a = R(a_), b = R(b_);                                           \
    if constexpr (__metalloid::is_vector<R>) {                              \
      METALLOID_ELEMENTWISE_2(R, name);                                     \
    } else {                                                                \
      return name(a, b);                                                    \
    }                                                                       \
  }
#define METALLOID_MIXED_3(name, RESULT)                                                    \
  template <typename A, typename B, typename C, typename R = __metalloid::RESULT<A, B, C>> \
  METALLOID_FUNC constexpr R name(A a_, B b_, C c_) {                                      \
    const R a = R(a_), b = R(b_), c = R(c_);                                               \
    if constexpr (__metalloid::is_vector<R>) {                                             \
      METALLOID_ELEMENTWISE_3(R, name);                                                    \
    } else {                                                                               \
      return name(a, b, c);                                                                \
    }                                                                                      \
  }

// R(F(a.x, ...), F(a.y, ...), ...). For bfloat, F may give floats; components are converted back.
#define METALLOID_LANES_(R, F, M)                     \
  using E = typename __metalloid::shape<R>::element;  \
  constexpr int lanes = __metalloid::shape<R>::lanes; \
  if constexpr (lanes == 1)                           \
    return R(E(M(F, x)));                             \
  else if constexpr (lanes == 2)                      \
    return R(E(M(F, x)), E(M(F, y)));                 \
  else if constexpr (lanes == 3)                      \
    return R(E(M(F, x)), E(M(F, y)), E(M(F, z)));     \
  else                                                \
    return R(E(M(F, x)), E(M(F, y)), E(M(F, z)), E(M(F, w)))
#define METALLOID_CALL_1(F, m) F(a.m)
#define METALLOID_CALL_2(F, m) F(a.m, b.m)
#define METALLOID_CALL_3(F, m) F(a.m, b.m, c.m)
#define METALLOID_ELEMENTWISE_1(R, F) METALLOID_LANES_(R, F, METALLOID_CALL_1)
#define METALLOID_ELEMENTWISE_2(R, F) METALLOID_LANES_(R, F, METALLOID_CALL_2)
#define METALLOID_ELEMENTWISE_3(R, F) METALLOID_LANES_(R, F, METALLOID_CALL_3)

// The same for functions that Clang has for whole vectors (METALLOID_WHOLE_n: those of one kind of element at run
// time; the rest goes element by element).
#define METALLOID_WHOLE_1(name, RESULT, builtin)                                                     \
  template <typename A, typename R = __metalloid::RESULT<A>>                                         \
  METALLOID_FUNC constexpr R name(A a_) {                                                            \
    const R a = R(a_);                                                                               \
    if constexpr (__metalloid::is_vector<R>) {                                                       \
      if constexpr (__metalloid::is_native_vector<R>) {                                              \
        if (!METALLOID_CONSTANT_EVALUATED) return R(builtin(a.__native), __metalloid::native_tag()); \
      }                                                                                              \
      METALLOID_ELEMENTWISE_1(R, name);                                                              \
    } else {                                                                                         \
      return name(a);                                                                                \
    }                                                                                                \
  }
#define METALLOID_WHOLE_2(name, RESULT, builtin)                                                                 \
  template <typename A, typename B, typename R = __metalloid::RESULT<A, B>>                                      \
  METALLOID_FUNC constexpr R name(A a_, B b_) {                                                                  \
    const R a = R(a_), b = R(b_);                                                                                \
    if constexpr (__metalloid::is_vector<R>) {                                                                   \
      if constexpr (__metalloid::is_native_vector<R>) {                                                          \
        if (!METALLOID_CONSTANT_EVALUATED) return R(builtin(a.__native, b.__native), __metalloid::native_tag()); \
      }                                                                                                          \
      METALLOID_ELEMENTWISE_2(R, name);                                                                          \
    } else {                                                                                                     \
      return name(a, b);                                                                                         \
    }                                                                                                            \
  }
#define METALLOID_WHOLE_3(name, RESULT, builtin)                                            \
  template <typename A, typename B, typename C, typename R = __metalloid::RESULT<A, B, C>>  \
  METALLOID_FUNC constexpr R name(A a_, B b_, C c_) {                                       \
    const R a = R(a_), b = R(b_), c = R(c_);                                                \
    if constexpr (__metalloid::is_vector<R>) {                                              \
      if constexpr (__metalloid::is_native_vector<R>) {                                     \
        if (!METALLOID_CONSTANT_EVALUATED)                                                  \
          return R(builtin(a.__native, b.__native, c.__native), __metalloid::native_tag()); \
      }                                                                                     \
      METALLOID_ELEMENTWISE_3(R, name);                                                     \
    } else {                                                                                \
      return name(a, b, c);                                                                 \
    }                                                                                       \
  }

namespace __metalloid {

template <typename T>
constexpr bool is_native_vector =
    is_vector<T> && !__is_same(typename shape<T>::element, bfloat) && !__is_same(typename shape<T>::element, bool);

// Clang's functions for vectors of floats or integers, with one name for both.
template <typename V>
METALLOID_FUNC V whole_max(V a, V b) {
  if constexpr (__is_floating_point(decltype(a[0] + a[0])))
    return __builtin_elementwise_maxnum(a, b);
  else
    return __builtin_elementwise_max(a, b);
}
template <typename V>
METALLOID_FUNC V whole_min(V a, V b) {
  if constexpr (__is_floating_point(decltype(a[0] + a[0])))
    return __builtin_elementwise_minnum(a, b);
  else
    return __builtin_elementwise_min(a, b);
}
template <typename V>
METALLOID_FUNC V whole_clamp(V x, V low, V high) {
  return whole_min(whole_max(x, low), high);
}
template <typename V>
METALLOID_FUNC V whole_abs(V x) {
  if constexpr (__is_floating_point(decltype(x[0] + x[0])))
    return __builtin_elementwise_abs(x);
  else
    return x < 0 ? -x : x;
}

}  // namespace __metalloid

#endif
