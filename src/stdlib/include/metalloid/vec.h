// vec<T, N> (MSL spec §2.2). Storage is a union of named components, an array and a Clang vector: the components
// serve constant expressions and users, the Clang vector makes operators single LLVM vector operations. Sizes and
// alignments follow from the Clang vector (three components take the room of four; bools take a byte each).
#ifndef METALLOID_VEC_H
#define METALLOID_VEC_H

#include <metalloid/bfloat.h>
#include <metalloid/swizzle.h>

namespace metal {
template <typename T, int N>
class vec;
template <typename T, int N, typename Vec = vec<T, N>>
class packed_vec;
}  // namespace metal

namespace __metalloid {

// The Clang vector that holds N elements of T: bools as bytes 0 and 1, bfloats as their bits.
template <typename T, int N>
struct native {
  typedef T type __attribute__((ext_vector_type(N)));
};
template <int N>
struct native<bool, N> {
  typedef uchar type __attribute__((ext_vector_type(N)));
};
template <int N>
struct native<bfloat, N> {
  typedef ushort type __attribute__((ext_vector_type(N)));
};
template <typename T, int N>
using native_t = typename native<T, N>::type;

struct native_tag {};

// An element as it stands in a Clang vector.
template <typename T>
METALLOID_FUNC auto native_element(T x) {
  if constexpr (__is_same(T, bool))
    return uchar(x);
  else if constexpr (__is_same(T, bfloat))
    return x.bits();
  else
    return x;
}

// Components that a constructor argument brings; the element type, and the vec type that it stands for.
template <typename T>
struct shape {
  static constexpr int lanes = 1;
  static constexpr bool is_vector = false;
  using element = T;
  using vector = T;
};
template <typename T, int N>
struct shape<metal::vec<T, N>> {
  static constexpr int lanes = N;
  static constexpr bool is_vector = true;
  using element = T;
  using vector = metal::vec<T, N>;
};
template <typename T, int N, typename V>
struct shape<metal::packed_vec<T, N, V>> {
  static constexpr int lanes = N;
  static constexpr bool is_vector = true;
  using element = T;
  using vector = V;
};

template <typename... A>
constexpr int lanes_of = (shape<A>::lanes + ...);

// Component I of the concatenation of the arguments.
template <int I, typename V>
METALLOID_FUNC constexpr auto at(const V& v) {
  if constexpr (I == 0) return v.x;
  if constexpr (I == 1) return v.y;
  if constexpr (I == 2) return v.z;
  if constexpr (I == 3) return v.w;
}
template <typename T, int I, typename A, typename... Rest>
METALLOID_FUNC constexpr T component(const A& first, const Rest&... rest) {
  constexpr int lanes = shape<A>::lanes;
  if constexpr (I >= lanes)
    return component<T, I - lanes>(rest...);
  else if constexpr (shape<A>::is_vector)
    return static_cast<T>(at<I>(first));
  else
    return static_cast<T>(first);
}

// A value other than vectors and T itself that converts to T by a class's conversion: a bfloat for float4, an int for
// bfloat4, uniform<float>. Numbers convert to each other without help; what converts to everything is a vector already.
struct unrelated {};
template <typename U, typename T>
using if_class_scalar =
    metal::enable_if_t<(__is_class(U) || __is_class(T)) && !__is_same(U, T) && !shape<U>::is_vector &&
                           __is_convertible(U, T) && !__is_convertible(U, unrelated),
                       int>;
// A scalar that T takes only explicitly: a float for bfloat4.
template <typename U, typename T>
using if_explicit_scalar =
    metal::enable_if_t<!shape<U>::is_vector && !__is_same(U, T) && !__is_convertible(U, T) && __is_constructible(T, U),
                       int>;

// Arithmetic on bfloat vectors happens in float.
template <int N>
METALLOID_FUNC native_t<float, N> widen_bfloat(native_t<ushort, N> bits) {
  const native_t<uint, N> wide = __builtin_convertvector(bits, native_t<uint, N>);
  return __builtin_bit_cast(native_t<float, N>, wide << 16u);
}
template <int N>
METALLOID_FUNC native_t<ushort, N> narrow_bfloat(native_t<float, N> value) {
  using Bits = native_t<uint, N>;
  const Bits bits = __builtin_bit_cast(Bits, value);
  const Bits rounded = bits + 0x7fffu + ((bits >> 16u) & 1u);
  const Bits is_nan = __builtin_bit_cast(Bits, (bits & 0x7fffffffu) > 0x7f800000u);
  return __builtin_convertvector(((is_nan & (bits | 0x400000u)) | (~is_nan & rounded)) >> 16u, native_t<ushort, N>);
}

// The Clang vector on which T's arithmetic is done, and the way back.
template <typename T, int N>
METALLOID_FUNC auto to_arithmetic(native_t<T, N> v) {
  if constexpr (__is_same(T, bfloat))
    return widen_bfloat<N>(v);
  else
    return v;
}
template <typename T, int N, typename V>
METALLOID_FUNC native_t<T, N> from_arithmetic(V v) {
  if constexpr (__is_same(T, bfloat))
    return narrow_bfloat<N>(v);
  else if constexpr (__is_same(T, bool))
    return v & uchar(1);
  else
    return v;
}
// A comparison's lanes of 0 and -1 to bytes of 0 and 1.
template <int N, typename Mask>
METALLOID_FUNC native_t<bool, N> mask_to_bool(Mask mask) {
  return __builtin_convertvector(mask, native_t<uchar, N>) & uchar(1);
}

template <typename To, typename From, int N>
METALLOID_FUNC native_t<To, N> convert_elements(native_t<From, N> v) {
  if constexpr (__is_same(To, bool))
    return mask_to_bool<N>(to_arithmetic<From, N>(v) != 0);
  else if constexpr (__is_same(To, bfloat) && __is_integral(From) && sizeof(From) >= 4) {
    native_t<float, N> floats;
    for (int i = 0; i < N; ++i) floats[i] = float_to_round(From(v[i]));
    return narrow_bfloat<N>(floats);
  } else if constexpr (__is_same(To, bfloat))
    return narrow_bfloat<N>(__builtin_convertvector(to_arithmetic<From, N>(v), native_t<float, N>));
  else
    return __builtin_convertvector(to_arithmetic<From, N>(v), native_t<To, N>);
}

}  // namespace __metalloid

namespace __metalloid::parts {

// The components of a vector. Constant expressions see the named ones.
template <typename T, int N>
struct storage;
template <typename T, int N>
struct packed_storage;

template <typename T>
struct storage<T, 1> {
  storage() = default;
  METALLOID_FUNC constexpr storage(T x_) : x(x_) {
    // At run time in one piece, so that memory is written in one piece.
    if (!METALLOID_CONSTANT_EVALUATED) __native = native_t<T, 1>{native_element(x_)};
  }
  METALLOID_FUNC constexpr storage(native_t<T, 1> v, native_tag) : __native(v) {}

  union {
    T x;
    T r;
    T __elements[1];
    native_t<T, 1> __native;
  };
};

template <typename T>
struct storage<T, 2> {
  storage() = default;
  METALLOID_FUNC constexpr storage(T x_, T y_) : x(x_), y(y_) {
    // At run time in one piece, so that memory is written in one piece.
    if (!METALLOID_CONSTANT_EVALUATED) __native = native_t<T, 2>{native_element(x_), native_element(y_)};
  }
  METALLOID_FUNC constexpr storage(native_t<T, 2> v, native_tag) : __native(v) {}

  union {
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
    T __elements[2];
    native_t<T, 2> __native;
  };
};

template <typename T>
struct packed_storage<T, 2> {
  packed_storage() = default;
  METALLOID_FUNC constexpr packed_storage(T x_, T y_) : x(x_), y(y_) {}

  union {
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
    T __elements[2];
  };
};

template <typename T>
struct storage<T, 3> {
  storage() = default;
  METALLOID_FUNC constexpr storage(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {
    // At run time in one piece, so that memory is written in one piece.
    if (!METALLOID_CONSTANT_EVALUATED)
      __native = native_t<T, 3>{native_element(x_), native_element(y_), native_element(z_)};
  }
  METALLOID_FUNC constexpr storage(native_t<T, 3> v, native_tag) : __native(v) {}

  union {
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
    T __elements[3];
    native_t<T, 3> __native;
  };
};

template <typename T>
struct packed_storage<T, 3> {
  packed_storage() = default;
  METALLOID_FUNC constexpr packed_storage(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}

  union {
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
    T __elements[3];
  };
};

template <typename T>
struct storage<T, 4> {
  storage() = default;
  METALLOID_FUNC constexpr storage(T x_, T y_, T z_, T w_) : x(x_), y(y_), z(z_), w(w_) {
    // At run time in one piece, so that memory is written in one piece.
    if (!METALLOID_CONSTANT_EVALUATED)
      __native = native_t<T, 4>{native_element(x_), native_element(y_), native_element(z_), native_element(w_)};
  }
  METALLOID_FUNC constexpr storage(native_t<T, 4> v, native_tag) : __native(v) {}

  union {
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
    T __elements[4];
    native_t<T, 4> __native;
  };
};

template <typename T>
struct packed_storage<T, 4> {
  packed_storage() = default;
  METALLOID_FUNC constexpr packed_storage(T x_, T y_, T z_, T w_) : x(x_), y(y_), z(z_), w(w_) {}

  union {
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
    T __elements[4];
  };
};

}  // namespace __metalloid::parts

// METALLOID_BUILD_N(V, M, ...): V(M(x, ...), M(y, ...), ...)
#define METALLOID_BUILD_1(V, M, ...) V(M(x, __VA_ARGS__))
#define METALLOID_BUILD_2(V, M, ...) V(M(x, __VA_ARGS__), M(y, __VA_ARGS__))
#define METALLOID_BUILD_3(V, M, ...) V(M(x, __VA_ARGS__), M(y, __VA_ARGS__), M(z, __VA_ARGS__))
#define METALLOID_BUILD_4(V, M, ...) V(M(x, __VA_ARGS__), M(y, __VA_ARGS__), M(z, __VA_ARGS__), M(w, __VA_ARGS__))
#define METALLOID_ELEMENT_BINARY(c, op) static_cast<T>(a.c op b.c)
#define METALLOID_ELEMENT_SHIFT(c, op) static_cast<T>(a.c op(b.c & T(8 * sizeof(T) - 1)))
#define METALLOID_ELEMENT_COMPARE(c, op) (a.c op b.c)
#define METALLOID_ELEMENT_UNARY(c, op) static_cast<T>(op a.c)

#define METALLOID_VEC_BINARY(N, op) METALLOID_VEC_BY_ELEMENT(N, op, METALLOID_ELEMENT_BINARY)
#define METALLOID_VEC_BY_ELEMENT(N, op, element)                                                        \
  METALLOID_FUNC friend constexpr vec operator op(vec a, vec b) {                                       \
    if (METALLOID_CONSTANT_EVALUATED) return METALLOID_BUILD_##N(vec, element, op);                     \
    return vec(__metalloid::from_arithmetic<T, N>(__metalloid::to_arithmetic<T, N>(a.__native)          \
                                                      op __metalloid::to_arithmetic<T, N>(b.__native)), \
               __metalloid::native_tag());                                                              \
  }                                                                                                     \
  METALLOID_FUNC constexpr vec& operator op## = (vec other) {                                           \
    *this = *this op other;                                                                             \
    return *this;                                                                                       \
  }

// Shifts take counts of another integer type, and mask them by the width of the element.
#define METALLOID_VEC_SHIFT(N, op)                                                                             \
  METALLOID_VEC_BY_ELEMENT(N, op, METALLOID_ELEMENT_SHIFT)                                                     \
  template <typename U, metal::enable_if_t<__is_integral(T) && __is_integral(U) && !__is_same(T, U), int> = 0> \
  METALLOID_FUNC friend constexpr vec operator op(vec a, vec<U, N> b) {                                        \
    return a op vec(b);                                                                                        \
  }                                                                                                            \
  template <typename U, metal::enable_if_t<__is_integral(T) && __is_integral(U) && !__is_same(T, U), int> = 0> \
  METALLOID_FUNC constexpr vec& operator op## = (vec<U, N> other) {                                            \
    *this = *this op vec(other);                                                                               \
    return *this;                                                                                              \
  }

#define METALLOID_VEC_COMPARE(N, op)                                                                       \
  METALLOID_FUNC friend constexpr vec<bool, N> operator op(vec a, vec b) {                                 \
    if (METALLOID_CONSTANT_EVALUATED) return METALLOID_BUILD_##N(__Bools, METALLOID_ELEMENT_COMPARE, op);  \
    return vec<bool, N>(__metalloid::mask_to_bool<N>(__metalloid::to_arithmetic<T, N>(a.__native)          \
                                                         op __metalloid::to_arithmetic<T, N>(b.__native)), \
                        __metalloid::native_tag());                                                        \
  }

#define METALLOID_VEC_LOGICAL(N, op, bit_op)                                                              \
  METALLOID_FUNC friend constexpr vec<bool, N> operator op(vec a, vec b) {                                \
    if (METALLOID_CONSTANT_EVALUATED) return METALLOID_BUILD_##N(__Bools, METALLOID_ELEMENT_COMPARE, op); \
    return vec<bool, N>(__metalloid::convert_elements<bool, T, N>(a.__native)                             \
                            bit_op __metalloid::convert_elements<bool, T, N>(b.__native),                 \
                        __metalloid::native_tag());                                                       \
  }

#define METALLOID_VEC_UNARY(N, op)                                                                  \
  METALLOID_FUNC friend constexpr vec operator op(vec a) {                                          \
    if (METALLOID_CONSTANT_EVALUATED) return METALLOID_BUILD_##N(vec, METALLOID_ELEMENT_UNARY, op); \
    return vec(__metalloid::from_arithmetic<T, N>(op __metalloid::to_arithmetic<T, N>(a.__native)), \
               __metalloid::native_tag());                                                          \
  }

// Operators that both the named sizes and the long register vectors have.
#define METALLOID_VEC_OPERATORS(N)                                                         \
  using __Bools = vec<bool, N>;                                                            \
  METALLOID_VEC_BINARY(N, +)                                                               \
  METALLOID_VEC_BINARY(N, -)                                                               \
  METALLOID_VEC_BINARY(N, *)                                                               \
  METALLOID_VEC_BINARY(N, /)                                                               \
  METALLOID_VEC_BINARY(N, %)                                                               \
  METALLOID_VEC_BINARY(N, &)                                                               \
  METALLOID_VEC_BINARY(N, |)                                                               \
  METALLOID_VEC_BINARY(N, ^)                                                               \
  METALLOID_VEC_SHIFT(N, <<)                                                               \
  METALLOID_VEC_SHIFT(N, >>)                                                               \
  METALLOID_VEC_COMPARE(N, ==)                                                             \
  METALLOID_VEC_COMPARE(N, !=)                                                             \
  METALLOID_VEC_COMPARE(N, <)                                                              \
  METALLOID_VEC_COMPARE(N, <=)                                                             \
  METALLOID_VEC_COMPARE(N, >)                                                              \
  METALLOID_VEC_COMPARE(N, >=)                                                             \
  METALLOID_VEC_LOGICAL(N, &&, &)                                                          \
  METALLOID_VEC_LOGICAL(N, ||, |)                                                          \
  METALLOID_VEC_UNARY(N, +)                                                                \
  METALLOID_VEC_UNARY(N, -)                                                                \
  METALLOID_VEC_UNARY(N, ~)                                                                \
  METALLOID_FUNC friend constexpr vec<bool, N> operator!(vec a) { return a == vec(T(0)); } \
  METALLOID_FUNC constexpr vec& operator++() {                                             \
    *this = *this + vec(T(1));                                                             \
    return *this;                                                                          \
  }                                                                                        \
  METALLOID_FUNC constexpr vec& operator--() {                                             \
    *this = *this - vec(T(1));                                                             \
    return *this;                                                                          \
  }                                                                                        \
  METALLOID_FUNC constexpr vec operator++(int) {                                           \
    const vec old = *this;                                                                 \
    ++*this;                                                                               \
    return old;                                                                            \
  }                                                                                        \
  METALLOID_FUNC constexpr vec operator--(int) {                                           \
    const vec old = *this;                                                                 \
    --*this;                                                                               \
    return old;                                                                            \
  }

// v[i] for a vector in any address space. (Overloads per space would be ambiguous for objects in thread space: Clang
// takes a qualified member for them, too.)
#define METALLOID_SUBSCRIPTS(select)                                              \
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr T& operator[](int i) {             \
    if (METALLOID_CONSTANT_EVALUATED) return select;                              \
    return __elements[i];                                                         \
  }                                                                               \
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr const T& operator[](int i) const { \
    if (METALLOID_CONSTANT_EVALUATED) return select;                              \
    return __elements[i];                                                         \
  }

// Constructors that every size has: one value for all components, conversion from the same size.
#define METALLOID_VEC_CONSTRUCTORS(N)                                                                                \
  vec() = default;                                                                                                   \
  METALLOID_FUNC constexpr vec(__metalloid::native_t<T, N> v, __metalloid::native_tag tag) : __Components(v, tag) {} \
  template <typename U, __metalloid::if_class_scalar<U, T> = 0>                                                      \
  METALLOID_FUNC constexpr vec(U value) : vec(static_cast<T>(value)) {}                                              \
  template <typename U, __metalloid::if_explicit_scalar<U, T> = 0>                                                   \
  METALLOID_FUNC explicit constexpr vec(U value) : vec(T(value)) {}

// From and to volatile memory, component by component. (Templates: real copy operations of volatile vectors would
// make vectors non-trivial.)
#define METALLOID_VEC_VOLATILE(N)                                                                               \
  template <typename V, metal::enable_if_t<__is_volatile(V) && __is_same(__metalloid::plain<V>, vec), int> = 0> \
  METALLOID_FUNC vec(V& v) : METALLOID_BUILD_##N(vec, METALLOID_ELEMENT_OF, v) {}                               \
  template <typename V, metal::enable_if_t<__is_same(V, vec), int> = 0>                                         \
  METALLOID_FUNC void operator=(const V& v) volatile {                                                          \
    for (int i = 0; i < N; ++i) __elements[i] = v.__elements[i];                                                \
  }
#define METALLOID_ELEMENT_OF(c, v) v.c

#define METALLOID_ELEMENT_CONVERT(c, v) static_cast<T>(v.c)
// (A longer vector gives its first components, when it is asked to: `float3(v4)`.)
#define METALLOID_VEC_CONVERSIONS(N)                                                                             \
  METALLOID_VEC_VOLATILE(N)                                                                                      \
  template <typename U, metal::enable_if_t<!__is_same(U, T), int> = 0>                                           \
  METALLOID_FUNC explicit constexpr vec(vec<U, N> v) : vec(__convert(v)) {}                                      \
  template <typename U, typename V, metal::enable_if_t<!__is_same(U, T), int> = 0>                               \
  METALLOID_FUNC explicit constexpr vec(packed_vec<U, N, V> v) : vec(__convert(V(v))) {}                         \
  template <typename U, int M, metal::enable_if_t<(M > N && M <= 4), int> = 0>                                   \
  METALLOID_FUNC explicit constexpr vec(vec<U, M> v) : METALLOID_BUILD_##N(vec, METALLOID_ELEMENT_CONVERT, v) {} \
  template <typename U, int M, typename V, metal::enable_if_t<(M > N), int> = 0>                                 \
  METALLOID_FUNC explicit constexpr vec(packed_vec<U, M, V> v)                                                   \
      : METALLOID_BUILD_##N(vec, METALLOID_ELEMENT_CONVERT, v) {}                                                \
  template <typename... A, metal::enable_if_t<(sizeof...(A) > 1) && __metalloid::lanes_of<A...> == N, int> = 0>  \
  METALLOID_FUNC constexpr vec(A... parts) : vec(__metalloid::native_tag(), parts...) {}                         \
  template <typename U>                                                                                          \
  METALLOID_FUNC static constexpr vec __convert(vec<U, N> v) {                                                   \
    if (METALLOID_CONSTANT_EVALUATED) return METALLOID_BUILD_##N(vec, METALLOID_ELEMENT_CONVERT, v);             \
    return vec(__metalloid::convert_elements<T, U, N>(v.__native), __metalloid::native_tag());                   \
  }

namespace metal {

// Longer vectors (and vec<T, 1>'s kin) exist as register types: elements, operators, conversions.
template <typename T, int N>
class vec {
 public:
  vec() = default;
  METALLOID_FUNC vec(__metalloid::native_t<T, N> v, __metalloid::native_tag) : __native(v) {}
  METALLOID_FUNC vec(T value) {
    for (int i = 0; i < N; ++i) __elements[i] = value;
  }
  template <typename... A, enable_if_t<sizeof...(A) == N && (sizeof...(A) > 1), int> = 0>
  METALLOID_FUNC vec(A... values) : __elements{static_cast<T>(values)...} {}
  template <typename U, enable_if_t<!__is_same(U, T), int> = 0>
  METALLOID_FUNC explicit vec(vec<U, N> v) : __native(__metalloid::convert_elements<T, U, N>(v.__native)) {}

  METALLOID_OWN_SPACE METALLOID_FUNC T& operator[](int i) { return __elements[i]; }
  METALLOID_OWN_SPACE METALLOID_FUNC const T& operator[](int i) const { return __elements[i]; }

#define METALLOID_BUILD_N(V, M, ...) V()
  METALLOID_VEC_OPERATORS(N)
#undef METALLOID_BUILD_N

  union {
    T __elements[N];
    __metalloid::native_t<T, N> __native;
  };
};

template <typename T>
class vec<T, 1> : public __metalloid::parts::storage<T, 1> {
 public:
  using __Components = __metalloid::parts::storage<T, 1>;
  using __Components::__elements;
  using __Components::__native;
  using __Components::x;

  METALLOID_VEC_CONSTRUCTORS(1)
  METALLOID_FUNC constexpr vec(T value) : __Components(value) {}
  template <typename U, enable_if_t<!__is_same(U, T), int> = 0>
  METALLOID_FUNC explicit constexpr vec(vec<U, 1> v) : __Components(static_cast<T>(v.x)) {}
  METALLOID_FUNC constexpr operator T() const { return x; }

  METALLOID_SUBSCRIPTS(x)
  METALLOID_VEC_OPERATORS(1)
};

template <typename T>
class vec<T, 2> : public __metalloid::parts::storage<T, 2>, public __metalloid::parts::swizzles<2, T, vec<T, 2>> {
 public:
  using __Components = __metalloid::parts::storage<T, 2>;
  using __Components::__elements;
  using __Components::__native;
  using __Components::x;
  using __Components::y;

  METALLOID_VEC_CONSTRUCTORS(2)
  METALLOID_FUNC constexpr vec(T value) : __Components(value, value) {}
  METALLOID_FUNC constexpr vec(T x_, T y_) : __Components(x_, y_) {}
  METALLOID_VEC_CONVERSIONS(2)
  template <typename... A>
  METALLOID_FUNC constexpr vec(__metalloid::native_tag, A... parts)
      : __Components(__metalloid::component<T, 0>(parts...), __metalloid::component<T, 1>(parts...)) {}

  METALLOID_SUBSCRIPTS(i == 0 ? x : y)
  METALLOID_VEC_OPERATORS(2)
};

template <typename T>
class vec<T, 3> : public __metalloid::parts::storage<T, 3>, public __metalloid::parts::swizzles<3, T, vec<T, 3>> {
 public:
  using __Components = __metalloid::parts::storage<T, 3>;
  using __Components::__elements;
  using __Components::__native;
  using __Components::x;
  using __Components::y;
  using __Components::z;

  METALLOID_VEC_CONSTRUCTORS(3)
  METALLOID_FUNC constexpr vec(T value) : __Components(value, value, value) {}
  METALLOID_FUNC constexpr vec(T x_, T y_, T z_) : __Components(x_, y_, z_) {}
  // `float3 v = {a, b}` fills up with zeros.
  template <typename U, enable_if_t<__is_same(U, T), int> = 0>
  METALLOID_FUNC constexpr vec(U x_, U y_) : __Components(x_, y_, T(0)) {}
  METALLOID_VEC_CONVERSIONS(3)
  template <typename... A>
  METALLOID_FUNC constexpr vec(__metalloid::native_tag, A... parts)
      : __Components(__metalloid::component<T, 0>(parts...), __metalloid::component<T, 1>(parts...),
                     __metalloid::component<T, 2>(parts...)) {}

  METALLOID_SUBSCRIPTS(i == 0 ? x : i == 1 ? y : z)
  METALLOID_VEC_OPERATORS(3)
};

template <typename T>
class vec<T, 4> : public __metalloid::parts::storage<T, 4>, public __metalloid::parts::swizzles<4, T, vec<T, 4>> {
 public:
  using __Components = __metalloid::parts::storage<T, 4>;
  using __Components::__elements;
  using __Components::__native;
  using __Components::w;
  using __Components::x;
  using __Components::y;
  using __Components::z;

  METALLOID_VEC_CONSTRUCTORS(4)
  METALLOID_FUNC constexpr vec(T value) : __Components(value, value, value, value) {}
  METALLOID_FUNC constexpr vec(T x_, T y_, T z_, T w_) : __Components(x_, y_, z_, w_) {}
  // `float4 v = {a, b, c}` fills up with zeros.
  template <typename U, enable_if_t<__is_same(U, T), int> = 0>
  METALLOID_FUNC constexpr vec(U x_, U y_, U z_) : __Components(x_, y_, z_, T(0)) {}
  template <typename U, enable_if_t<__is_same(U, T), int> = 0>
  METALLOID_FUNC constexpr vec(U x_, U y_) : __Components(x_, y_, T(0), T(0)) {}
  METALLOID_VEC_CONVERSIONS(4)
  template <typename... A>
  METALLOID_FUNC constexpr vec(__metalloid::native_tag, A... parts)
      : __Components(__metalloid::component<T, 0>(parts...), __metalloid::component<T, 1>(parts...),
                     __metalloid::component<T, 2>(parts...), __metalloid::component<T, 3>(parts...)) {}

  METALLOID_SUBSCRIPTS(i == 0 ? x : i == 1 ? y : i == 2 ? z : w)
  METALLOID_VEC_OPERATORS(4)
};

}  // namespace metal

#endif
