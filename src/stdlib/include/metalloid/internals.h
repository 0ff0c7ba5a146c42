// Names of Metal's own library internals that public kernels call: __metal_<function>(x, mode) and the bare
// simdgroup functions. The mode asks for fast or precise math; both are the same here.
#ifndef METALLOID_INTERNALS_H
#define METALLOID_INTERNALS_H

#include <metalloid/math.h>
#include <metalloid/quadgroup.h>
#include <metalloid/simdgroup.h>

#define __METAL_PRECISE_MATH__ 0
#define __METAL_FAST_MATH__ 1
#define __METAL_MAYBE_FAST_MATH__ 1

#define METALLOID_INTERNAL_1(name)                   \
  template <typename T>                              \
  METALLOID_FUNC auto __metal_##name(T x, int = 0) { \
    return metal::name(x);                           \
  }
#define METALLOID_INTERNAL_2(name)                        \
  template <typename T, typename U>                       \
  METALLOID_FUNC auto __metal_##name(T x, U y, int = 0) { \
    return metal::name(x, y);                             \
  }
#define METALLOID_INTERNAL_3(name)                             \
  template <typename T>                                        \
  METALLOID_FUNC auto __metal_##name(T x, T y, T z, int = 0) { \
    return metal::name(x, y, z);                               \
  }
METALLOID_INTERNAL_1(acos)
METALLOID_INTERNAL_1(acosh)
METALLOID_INTERNAL_1(asin)
METALLOID_INTERNAL_1(asinh)
METALLOID_INTERNAL_1(atan)
METALLOID_INTERNAL_1(atanh)
METALLOID_INTERNAL_1(ceil)
METALLOID_INTERNAL_1(cos)
METALLOID_INTERNAL_1(cosh)
METALLOID_INTERNAL_1(cospi)
METALLOID_INTERNAL_1(exp)
METALLOID_INTERNAL_1(exp10)
METALLOID_INTERNAL_1(exp2)
METALLOID_INTERNAL_1(fabs)
METALLOID_INTERNAL_1(floor)
METALLOID_INTERNAL_1(fract)
METALLOID_INTERNAL_1(ilogb)
METALLOID_INTERNAL_1(log)
METALLOID_INTERNAL_1(log10)
METALLOID_INTERNAL_1(log2)
METALLOID_INTERNAL_1(rint)
METALLOID_INTERNAL_1(round)
METALLOID_INTERNAL_1(rsqrt)
METALLOID_INTERNAL_1(sin)
METALLOID_INTERNAL_1(sinh)
METALLOID_INTERNAL_1(sinpi)
METALLOID_INTERNAL_1(sqrt)
METALLOID_INTERNAL_1(tan)
METALLOID_INTERNAL_1(tanh)
METALLOID_INTERNAL_1(tanpi)
METALLOID_INTERNAL_1(trunc)
METALLOID_INTERNAL_2(atan2)
METALLOID_INTERNAL_2(copysign)
METALLOID_INTERNAL_2(divide)
METALLOID_INTERNAL_2(fdim)
METALLOID_INTERNAL_2(fmax)
METALLOID_INTERNAL_2(fmin)
METALLOID_INTERNAL_2(fmod)
METALLOID_INTERNAL_2(ldexp)
METALLOID_INTERNAL_2(nextafter)
METALLOID_INTERNAL_2(pow)
METALLOID_INTERNAL_2(powr)
METALLOID_INTERNAL_3(fma)
METALLOID_INTERNAL_3(fmax3)
METALLOID_INTERNAL_3(fmedian3)
METALLOID_INTERNAL_3(fmin3)
#undef METALLOID_INTERNAL_1
#undef METALLOID_INTERNAL_2
#undef METALLOID_INTERNAL_3

template <typename T>
METALLOID_FUNC T __metal_frexp(T x, int* exponent, int = 0) {
  return metal::frexp(x, *exponent);
}
template <typename T>
METALLOID_FUNC T __metal_modf(T x, T* integral, int = 0) {
  return metal::modf(x, *integral);
}
template <typename T>
METALLOID_FUNC T __metal_sincos(T x, T* cosine, int = 0) {
  return metal::sincos(x, *cosine);
}

#define METALLOID_INTERNAL_GROUP(name)         \
  template <typename... A>                     \
  METALLOID_FUNC auto __metal_##name(A... a) { \
    return metal::name(a...);                  \
  }
#define METALLOID_INTERNAL_GROUPS(group)                     \
  METALLOID_INTERNAL_GROUP(group##_broadcast)                \
  METALLOID_INTERNAL_GROUP(group##_broadcast_first)          \
  METALLOID_INTERNAL_GROUP(group##_shuffle)                  \
  METALLOID_INTERNAL_GROUP(group##_shuffle_up)               \
  METALLOID_INTERNAL_GROUP(group##_shuffle_down)             \
  METALLOID_INTERNAL_GROUP(group##_shuffle_xor)              \
  METALLOID_INTERNAL_GROUP(group##_shuffle_rotate_up)        \
  METALLOID_INTERNAL_GROUP(group##_shuffle_rotate_down)      \
  METALLOID_INTERNAL_GROUP(group##_shuffle_and_fill_up)      \
  METALLOID_INTERNAL_GROUP(group##_shuffle_and_fill_down)    \
  METALLOID_INTERNAL_GROUP(group##_sum)                      \
  METALLOID_INTERNAL_GROUP(group##_product)                  \
  METALLOID_INTERNAL_GROUP(group##_min)                      \
  METALLOID_INTERNAL_GROUP(group##_max)                      \
  METALLOID_INTERNAL_GROUP(group##_and)                      \
  METALLOID_INTERNAL_GROUP(group##_or)                       \
  METALLOID_INTERNAL_GROUP(group##_xor)                      \
  METALLOID_INTERNAL_GROUP(group##_prefix_inclusive_sum)     \
  METALLOID_INTERNAL_GROUP(group##_prefix_exclusive_sum)     \
  METALLOID_INTERNAL_GROUP(group##_prefix_inclusive_product) \
  METALLOID_INTERNAL_GROUP(group##_prefix_exclusive_product)
METALLOID_INTERNAL_GROUPS(simd)
METALLOID_INTERNAL_GROUPS(quad)
#undef METALLOID_INTERNAL_GROUP
#undef METALLOID_INTERNAL_GROUPS

METALLOID_FUNC constexpr ushort __metal_get_simdgroup_size(ushort) { return 32; }
METALLOID_FUNC ushort __metal_get_thread_index_in_simdgroup(ushort) { return ushort(__metalloid::simd_lane()); }
METALLOID_FUNC constexpr ushort __metal_get_quadgroup_size(ushort) { return 4; }
METALLOID_FUNC ushort __metal_get_thread_index_in_quadgroup(ushort) {
  return ushort(__metalloid::simd_lane()) & ushort(3);
}

// Clang's has no pointer's space in its result. Nothing is made of the promise: a wrong one would be a crash.
namespace __metalloid {
#define METALLOID_ASSUME_ALIGNED(space)                                             \
  template <typename T>                                                             \
  METALLOID_FUNC space void* assume_aligned(space T* pointer, size_t, size_t = 0) { \
    return (space void*)pointer;                                                    \
  }
METALLOID_ASSUME_ALIGNED(device)
METALLOID_ASSUME_ALIGNED(constant)
METALLOID_ASSUME_ALIGNED(threadgroup)
METALLOID_ASSUME_ALIGNED(thread)
#undef METALLOID_ASSUME_ALIGNED
}  // namespace __metalloid
#define __builtin_assume_aligned __metalloid::assume_aligned

#endif
