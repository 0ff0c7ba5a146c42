// packed_vec<T, N> (MSL spec §2.2.3): N elements with the alignment of one. Arithmetic happens on vec<T, N>, to and
// from which it converts; being a template argument, vec<T, N> lends its operators to argument-dependent lookup.
#ifndef METALLOID_PACKED_H
#define METALLOID_PACKED_H

#include <metalloid/vec.h>

#define METALLOID_PACKED_COMPOUND(op) \
  METALLOID_FUNC constexpr packed_vec& operator op## = (Vec v) { return *this = Vec(*this) op v; }

#define METALLOID_PACKED_MEMBERS(N)                                                                             \
  packed_vec() = default;                                                                                       \
  METALLOID_FUNC constexpr packed_vec(Vec v) : packed_vec(__metalloid::native_tag(), v) {}                      \
  METALLOID_FUNC constexpr packed_vec(T value) : packed_vec(Vec(value)) {}                                      \
  template <typename U, metal::enable_if_t<!__is_same(U, T), int> = 0>                                          \
  METALLOID_FUNC explicit constexpr packed_vec(vec<U, N> v) : packed_vec(Vec(v)) {}                             \
  template <typename U, typename V, metal::enable_if_t<!__is_same(U, T), int> = 0>                              \
  METALLOID_FUNC explicit constexpr packed_vec(packed_vec<U, N, V> v) : packed_vec(Vec(V(v))) {}                \
  template <typename... A, metal::enable_if_t<(sizeof...(A) > 1) && __metalloid::lanes_of<A...> == N, int> = 0> \
  METALLOID_FUNC constexpr packed_vec(A... parts) : packed_vec(__metalloid::native_tag(), Vec(parts...)) {}     \
  METALLOID_PACKED_COMPOUND(+)                                                                                  \
  METALLOID_PACKED_COMPOUND(-)                                                                                  \
  METALLOID_PACKED_COMPOUND(*)                                                                                  \
  METALLOID_PACKED_COMPOUND(/)                                                                                  \
  METALLOID_PACKED_COMPOUND(%)                                                                                  \
  METALLOID_PACKED_COMPOUND(&)                                                                                  \
  METALLOID_PACKED_COMPOUND(|)                                                                                  \
  METALLOID_PACKED_COMPOUND(^)                                                                                  \
  METALLOID_PACKED_COMPOUND(<<)                                                                                 \
  METALLOID_PACKED_COMPOUND(>>)

namespace metal {

template <typename T, typename Vec>
class packed_vec<T, 2, Vec> : public __metalloid::parts::packed_storage<T, 2>,
                              public __metalloid::parts::swizzles<2, T, packed_vec<T, 2, Vec>> {
 public:
  using __Components = __metalloid::parts::packed_storage<T, 2>;
  using __Components::__elements;
  using __Components::x;
  using __Components::y;

  METALLOID_FUNC constexpr packed_vec(__metalloid::native_tag, Vec v) : __Components(v.x, v.y) {}
  METALLOID_FUNC constexpr operator Vec() const { return Vec(x, y); }
  METALLOID_PACKED_MEMBERS(2)
  METALLOID_SUBSCRIPTS(i == 0 ? x : y)
  static_assert(sizeof(Vec) >= 2 * sizeof(T), "completes the vector type");
};

template <typename T, typename Vec>
class packed_vec<T, 3, Vec> : public __metalloid::parts::packed_storage<T, 3>,
                              public __metalloid::parts::swizzles<3, T, packed_vec<T, 3, Vec>> {
 public:
  using __Components = __metalloid::parts::packed_storage<T, 3>;
  using __Components::__elements;
  using __Components::x;
  using __Components::y;
  using __Components::z;

  METALLOID_FUNC constexpr packed_vec(__metalloid::native_tag, Vec v) : __Components(v.x, v.y, v.z) {}
  METALLOID_FUNC constexpr operator Vec() const { return Vec(x, y, z); }
  METALLOID_PACKED_MEMBERS(3)
  METALLOID_SUBSCRIPTS(i == 0 ? x : i == 1 ? y : z)
  static_assert(sizeof(Vec) >= 3 * sizeof(T), "completes the vector type");
};

template <typename T, typename Vec>
class packed_vec<T, 4, Vec> : public __metalloid::parts::packed_storage<T, 4>,
                              public __metalloid::parts::swizzles<4, T, packed_vec<T, 4, Vec>> {
 public:
  using __Components = __metalloid::parts::packed_storage<T, 4>;
  using __Components::__elements;
  using __Components::w;
  using __Components::x;
  using __Components::y;
  using __Components::z;

  METALLOID_FUNC constexpr packed_vec(__metalloid::native_tag, Vec v) : __Components(v.x, v.y, v.z, v.w) {}
  METALLOID_FUNC constexpr operator Vec() const { return Vec(x, y, z, w); }
  METALLOID_PACKED_MEMBERS(4)
  METALLOID_SUBSCRIPTS(i == 0 ? x : i == 1 ? y : i == 2 ? z : w)
  static_assert(sizeof(Vec) >= 4 * sizeof(T), "completes the vector type");
};

}  // namespace metal

#endif
