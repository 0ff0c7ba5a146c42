// Names of vector and packed vector types: float4, packed_uint3, ... known with and without namespace metal.
#ifndef METALLOID_TYPE_NAMES_H
#define METALLOID_TYPE_NAMES_H

#include <metalloid/packed.h>

#define METALLOID_NAME_VECTOR(T, N) \
  typedef metal::vec<T, N> T##N;    \
  namespace metal {                 \
  using ::T##N;                     \
  }
#define METALLOID_NAME_PACKED(T, N)              \
  typedef metal::packed_vec<T, N> packed_##T##N; \
  namespace metal {                              \
  using ::packed_##T##N;                         \
  }
#define METALLOID_NAMES(T)    \
  METALLOID_NAME_VECTOR(T, 2) \
  METALLOID_NAME_VECTOR(T, 3) \
  METALLOID_NAME_VECTOR(T, 4) \
  METALLOID_NAME_PACKED(T, 2) \
  METALLOID_NAME_PACKED(T, 3) \
  METALLOID_NAME_PACKED(T, 4)

METALLOID_NAME_VECTOR(bool, 2)
METALLOID_NAME_VECTOR(bool, 3)
METALLOID_NAME_VECTOR(bool, 4)
METALLOID_NAMES(char)
METALLOID_NAMES(uchar)
METALLOID_NAMES(short)
METALLOID_NAMES(ushort)
METALLOID_NAMES(int)
METALLOID_NAMES(uint)
METALLOID_NAMES(long)
METALLOID_NAMES(ulong)
METALLOID_NAMES(half)
METALLOID_NAMES(bfloat)
METALLOID_NAMES(float)

#undef METALLOID_NAME_VECTOR
#undef METALLOID_NAME_PACKED
#undef METALLOID_NAMES

namespace metal {

// The number of components of a vector type, 1 for scalars.
// The type of a vector's elements; scalars are their own. (Public kernels specialise the first for their own types.)
template <typename T>
struct _make_scalar_impl {
  using type = typename __metalloid::shape<T>::element;
};
template <typename T>
struct make_scalar : _make_scalar_impl<__remove_cvref(T)> {};
template <typename T>
using make_scalar_t = typename make_scalar<T>::type;

template <typename T>
struct vec_elements : integral_constant<int, __metalloid::shape<T>::lanes> {};
template <typename T>
constexpr constant int vec_elements_v = vec_elements<T>::value;

// as_type<U>(v): the same bits as another type of the same size (MSL spec §2.16).
template <typename U, typename T>
METALLOID_FUNC constexpr U as_type(T value) {
  static_assert(sizeof(U) == sizeof(T), "as_type needs types of the same size");
  return __builtin_bit_cast(U, value);
}

}  // namespace metal

using metal::as_type;

#endif
