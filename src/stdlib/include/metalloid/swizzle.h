// Swizzles of two to four components and halves (`lo`, `hi`, `even`, `odd`) as properties without storage:
// swizzles<N, T, Vector> is an empty base that gives them to an N-component vector, for vec and packed_vec alike. `xy`
// and `rg` share accessors. A swizzle that repeats a component can only be read, and one of a swizzle (a.wzyx.lo): what
// is written to a copy would be lost. (The thousand declarations stand in a base of their own because Clang walks
// through a class's declarations whenever it compiles one of its constructors.)
#ifndef METALLOID_SWIZZLE_H
#define METALLOID_SWIZZLE_H

// 1 if both names are the same component, else 0.
#define METALLOID_SAME_xx ~, 1
#define METALLOID_SAME_yy ~, 1
#define METALLOID_SAME_zz ~, 1
#define METALLOID_SAME_ww ~, 1
#define METALLOID_SECOND(a, b, ...) b
#define METALLOID_SECOND_OF(...) METALLOID_SECOND(__VA_ARGS__)
#define METALLOID_SAME(a, b) METALLOID_SECOND_OF(METALLOID_SAME_##a##b, 0, ~)

#define METALLOID_PASTE3_(a, b, c) a##b##c
#define METALLOID_PASTE3(a, b, c) METALLOID_PASTE3_(a, b, c)
#define METALLOID_PASTE4_(a, b, c, d) a##b##c##d
#define METALLOID_PASTE4(a, b, c, d) METALLOID_PASTE4_(a, b, c, d)
#define METALLOID_PASTE7_(a, b, c, d, e, f, g) a##b##c##d##e##f##g
#define METALLOID_PASTE7(a, b, c, d, e, f, g) METALLOID_PASTE7_(a, b, c, d, e, f, g)

// Kind of a swizzle by how its components coincide: _0... is writable, everything else falls to read-only.
#define METALLOID_KIND2(a, b) METALLOID_WRITABLE(METALLOID_SAME(a, b))
#define METALLOID_KIND3(a, b, c) \
  METALLOID_WRITABLE(METALLOID_PASTE3(METALLOID_SAME(a, b), METALLOID_SAME(a, c), METALLOID_SAME(b, c)))
#define METALLOID_KIND4(a, b, c, d)                                                                     \
  METALLOID_WRITABLE(METALLOID_PASTE7(METALLOID_SAME(a, b), METALLOID_SAME(a, c), METALLOID_SAME(a, d), \
                                      METALLOID_SAME(b, c), METALLOID_SAME(b, d), METALLOID_SAME(c, d), ))
#define METALLOID_WRITABLE(bits) METALLOID_WRITABLE_(bits)
#define METALLOID_WRITABLE_(bits) METALLOID_SECOND_OF(METALLOID_BITS_##bits, READ, ~)
#define METALLOID_BITS_0 ~, WRITE
#define METALLOID_BITS_000 ~, WRITE
#define METALLOID_BITS_000000 ~, WRITE

// p, q, s, t: components in the xyzw set; P, Q, S, T: the same in the rgba set.
#define METALLOID_SWIZZLE2(p, P, q, Q) METALLOID_DO2(METALLOID_KIND2(p, q), p, P, q, Q)
#define METALLOID_DO2(kind, ...) METALLOID_DO2_(kind, __VA_ARGS__)
#define METALLOID_DO2_(kind, ...) METALLOID_##kind##2(__VA_ARGS__)
#define METALLOID_READ2(p, P, q, Q)                                                                   \
  METALLOID_FUNC constexpr metal::vec<T, 2> __get_##p##q() const { return {__self().p, __self().q}; } \
  __declspec(property(get = __get_##p##q)) metal::vec<T, 2> p##q, P##Q;
#define METALLOID_WRITE2(p, P, q, Q)                                                                       \
  METALLOID_FUNC constexpr metal::vec<T, 2> __get_##p##q() const { return {__self().p, __self().q}; }      \
  METALLOID_FUNC constexpr void __put_##p##q(metal::vec<T, 2> v) & { __self().p = v.x, __self().q = v.y; } \
  __declspec(property(get = __get_##p##q, put = __put_##p##q)) metal::vec<T, 2> p##q, P##Q;

#define METALLOID_SWIZZLE3(p, P, q, Q, s, S) METALLOID_DO3(METALLOID_KIND3(p, q, s), p, P, q, Q, s, S)
#define METALLOID_DO3(kind, ...) METALLOID_DO3_(kind, __VA_ARGS__)
#define METALLOID_DO3_(kind, ...) METALLOID_##kind##3(__VA_ARGS__)
#define METALLOID_READ3(p, P, q, Q, s, S)                                                                            \
  METALLOID_FUNC constexpr metal::vec<T, 3> __get_##p##q##s() const { return {__self().p, __self().q, __self().s}; } \
  __declspec(property(get = __get_##p##q##s)) metal::vec<T, 3> p##q##s, P##Q##S;
#define METALLOID_WRITE3(p, P, q, Q, s, S)                                                                           \
  METALLOID_FUNC constexpr metal::vec<T, 3> __get_##p##q##s() const { return {__self().p, __self().q, __self().s}; } \
  METALLOID_FUNC constexpr void __put_##p##q##s(metal::vec<T, 3> v) & {                                              \
    __self().p = v.x, __self().q = v.y, __self().s = v.z;                                                            \
  }                                                                                                                  \
  __declspec(property(get = __get_##p##q##s, put = __put_##p##q##s)) metal::vec<T, 3> p##q##s, P##Q##S;

#define METALLOID_SWIZZLE4(p, P, q, Q, s, S, t, R) METALLOID_DO4(METALLOID_KIND4(p, q, s, t), p, P, q, Q, s, S, t, R)
#define METALLOID_DO4(kind, ...) METALLOID_DO4_(kind, __VA_ARGS__)
#define METALLOID_DO4_(kind, ...) METALLOID_##kind##4(__VA_ARGS__)
#define METALLOID_READ4(p, P, q, Q, s, S, t, R)                          \
  METALLOID_FUNC constexpr metal::vec<T, 4> __get_##p##q##s##t() const { \
    return {__self().p, __self().q, __self().s, __self().t};             \
  }                                                                      \
  __declspec(property(get = __get_##p##q##s##t)) metal::vec<T, 4> p##q##s##t, P##Q##S##R;
#define METALLOID_WRITE4(p, P, q, Q, s, S, t, R)                            \
  METALLOID_FUNC constexpr metal::vec<T, 4> __get_##p##q##s##t() const {    \
    return {__self().p, __self().q, __self().s, __self().t};                \
  }                                                                         \
  METALLOID_FUNC constexpr void __put_##p##q##s##t(metal::vec<T, 4> v) & {  \
    __self().p = v.x, __self().q = v.y, __self().s = v.z, __self().t = v.w; \
  }                                                                         \
  __declspec(property(get = __get_##p##q##s##t, put = __put_##p##q##s##t)) metal::vec<T, 4> p##q##s##t, P##Q##S##R;

// Loops over components, one macro per nesting depth.
#define METALLOID_LOOP_A2(M) M(x, r) M(y, g)
#define METALLOID_LOOP_A3(M) METALLOID_LOOP_A2(M) M(z, b)
#define METALLOID_LOOP_A4(M) METALLOID_LOOP_A3(M) M(w, a)
#define METALLOID_LOOP_B2(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g)
#define METALLOID_LOOP_B3(M, ...) METALLOID_LOOP_B2(M, __VA_ARGS__) M(__VA_ARGS__, z, b)
#define METALLOID_LOOP_B4(M, ...) METALLOID_LOOP_B3(M, __VA_ARGS__) M(__VA_ARGS__, w, a)
#define METALLOID_LOOP_C2(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g)
#define METALLOID_LOOP_C3(M, ...) METALLOID_LOOP_C2(M, __VA_ARGS__) M(__VA_ARGS__, z, b)
#define METALLOID_LOOP_C4(M, ...) METALLOID_LOOP_C3(M, __VA_ARGS__) M(__VA_ARGS__, w, a)
#define METALLOID_LOOP_D2(M, ...) M(__VA_ARGS__, x, r) M(__VA_ARGS__, y, g)
#define METALLOID_LOOP_D3(M, ...) METALLOID_LOOP_D2(M, __VA_ARGS__) M(__VA_ARGS__, z, b)
#define METALLOID_LOOP_D4(M, ...) METALLOID_LOOP_D3(M, __VA_ARGS__) M(__VA_ARGS__, w, a)

#define METALLOID_SWIZZLES_OF(N)                                                            \
  METALLOID_LOOP_A##N(METALLOID_SWIZZLES2_##N) METALLOID_LOOP_A##N(METALLOID_SWIZZLES3_##N) \
      METALLOID_LOOP_A##N(METALLOID_SWIZZLES4_##N)

#define METALLOID_SWIZZLES2_2(...) METALLOID_LOOP_B2(METALLOID_SWIZZLE2, __VA_ARGS__)
#define METALLOID_SWIZZLES3_2(...) METALLOID_LOOP_B2(METALLOID_SWIZZLES3B_2, __VA_ARGS__)
#define METALLOID_SWIZZLES3B_2(...) METALLOID_LOOP_C2(METALLOID_SWIZZLE3, __VA_ARGS__)
#define METALLOID_SWIZZLES4_2(...) METALLOID_LOOP_B2(METALLOID_SWIZZLES4B_2, __VA_ARGS__)
#define METALLOID_SWIZZLES4B_2(...) METALLOID_LOOP_C2(METALLOID_SWIZZLES4C_2, __VA_ARGS__)
#define METALLOID_SWIZZLES4C_2(...) METALLOID_LOOP_D2(METALLOID_SWIZZLE4, __VA_ARGS__)

#define METALLOID_SWIZZLES2_3(...) METALLOID_LOOP_B3(METALLOID_SWIZZLE2, __VA_ARGS__)
#define METALLOID_SWIZZLES3_3(...) METALLOID_LOOP_B3(METALLOID_SWIZZLES3B_3, __VA_ARGS__)
#define METALLOID_SWIZZLES3B_3(...) METALLOID_LOOP_C3(METALLOID_SWIZZLE3, __VA_ARGS__)
#define METALLOID_SWIZZLES4_3(...) METALLOID_LOOP_B3(METALLOID_SWIZZLES4B_3, __VA_ARGS__)
#define METALLOID_SWIZZLES4B_3(...) METALLOID_LOOP_C3(METALLOID_SWIZZLES4C_3, __VA_ARGS__)
#define METALLOID_SWIZZLES4C_3(...) METALLOID_LOOP_D3(METALLOID_SWIZZLE4, __VA_ARGS__)

#define METALLOID_SWIZZLES2_4(...) METALLOID_LOOP_B4(METALLOID_SWIZZLE2, __VA_ARGS__)
#define METALLOID_SWIZZLES3_4(...) METALLOID_LOOP_B4(METALLOID_SWIZZLES3B_4, __VA_ARGS__)
#define METALLOID_SWIZZLES3B_4(...) METALLOID_LOOP_C4(METALLOID_SWIZZLE3, __VA_ARGS__)
#define METALLOID_SWIZZLES4_4(...) METALLOID_LOOP_B4(METALLOID_SWIZZLES4B_4, __VA_ARGS__)
#define METALLOID_SWIZZLES4B_4(...) METALLOID_LOOP_C4(METALLOID_SWIZZLES4C_4, __VA_ARGS__)
#define METALLOID_SWIZZLES4C_4(...) METALLOID_LOOP_D4(METALLOID_SWIZZLE4, __VA_ARGS__)

// Halves. A vector of three counts as one of four without its last component.
#define METALLOID_HALF(name, type, first) __declspec(property(get = __get_##first, put = __put_##first)) type name;
#define METALLOID_HALVES_2                                          \
  METALLOID_FUNC constexpr T __get_x() const { return __self().x; } \
  METALLOID_FUNC constexpr T __get_y() const { return __self().y; } \
  METALLOID_FUNC constexpr void __put_x(T v) & { __self().x = v; }  \
  METALLOID_FUNC constexpr void __put_y(T v) & { __self().y = v; }  \
  METALLOID_HALF(lo, T, x)                                          \
  METALLOID_HALF(hi, T, y)                                          \
  METALLOID_HALF(even, T, x)                                        \
  METALLOID_HALF(odd, T, y)
#define METALLOID_HALVES_3                                                                  \
  METALLOID_FUNC constexpr metal::vec<T, 2> __get_z_() const { return {__self().z, T(0)}; } \
  METALLOID_FUNC constexpr metal::vec<T, 2> __get_y_() const { return {__self().y, T(0)}; } \
  METALLOID_FUNC constexpr void __put_z_(metal::vec<T, 2> v) & { __self().z = v.x; }        \
  METALLOID_FUNC constexpr void __put_y_(metal::vec<T, 2> v) & { __self().y = v.x; }        \
  METALLOID_HALF(lo, METALLOID_HALF_TYPE, xy)                                               \
  METALLOID_HALF(hi, METALLOID_HALF_TYPE, z_)                                               \
  METALLOID_HALF(even, METALLOID_HALF_TYPE, xz)                                             \
  METALLOID_HALF(odd, METALLOID_HALF_TYPE, y_)
#define METALLOID_HALVES_4                      \
  METALLOID_HALF(lo, METALLOID_HALF_TYPE, xy)   \
  METALLOID_HALF(hi, METALLOID_HALF_TYPE, zw)   \
  METALLOID_HALF(even, METALLOID_HALF_TYPE, xz) \
  METALLOID_HALF(odd, METALLOID_HALF_TYPE, yw)
#define METALLOID_HALF_TYPE metal::vec<T, 2>

namespace metal {
template <typename T, int N>
class vec;
}

// A namespace of its own: being bases of vec, these classes bring their namespace into argument-dependent lookup.
namespace __metalloid::parts {

template <int N, typename T, typename Vector>
struct swizzles;

template <typename T, typename Vector>
struct swizzles<2, T, Vector> {
  METALLOID_FUNC constexpr Vector& __self() { return *static_cast<Vector*>(this); }
  METALLOID_FUNC constexpr const Vector& __self() const { return *static_cast<const Vector*>(this); }
  METALLOID_SWIZZLES_OF(2)
  METALLOID_HALVES_2
};

template <typename T, typename Vector>
struct swizzles<3, T, Vector> {
  METALLOID_FUNC constexpr Vector& __self() { return *static_cast<Vector*>(this); }
  METALLOID_FUNC constexpr const Vector& __self() const { return *static_cast<const Vector*>(this); }
  METALLOID_SWIZZLES_OF(3)
  METALLOID_HALVES_3
};

template <typename T, typename Vector>
struct swizzles<4, T, Vector> {
  METALLOID_FUNC constexpr Vector& __self() { return *static_cast<Vector*>(this); }
  METALLOID_FUNC constexpr const Vector& __self() const { return *static_cast<const Vector*>(this); }
  METALLOID_SWIZZLES_OF(4)
  METALLOID_HALVES_4
};

}  // namespace __metalloid::parts

#endif
