// Kernels for elementwise operators, and where a tensor's elements are. REGISTER_UNARY_OP(name, in, out) and its
// kin instantiate, for a functor `name_functor`, the family of kernels that torch's TensorIterator chooses from; names
// and argument lists are those of PyTorch. Sizes and strides are innermost first, strides in bytes. Metalloid's own.
#ifndef METALLOID_C10_METAL_INDEXING_H
#define METALLOID_C10_METAL_INDEXING_H

#include <metal_stdlib>

#include <c10/metal/common.h>
#include <c10/metal/utils.h>

namespace c10 {
namespace metal {

// The offset of an element, in the strides' unit.
template <typename T>
METALLOID_FUNC T offset_from_coord(thread T position[max_ndim], constant long* strides, uint ndim) {
  T offset = 0;
  for (uint dim = 0; dim < ndim; ++dim) offset += position[dim] * T(strides[dim]);
  return offset;
}

// The position of the element with that number, counted along dimension 0 first.
template <typename T>
METALLOID_FUNC void pos_from_thread_index(T index, thread T position[max_ndim], constant long* sizes, uint ndim) {
  for (uint dim = 0; dim < ndim; ++dim) {
    const T size = T(sizes[dim]);
    position[dim] = index % size;
    index /= size;
  }
}
// The same on a grid whose y counts the dimensions from 1 on.
template <typename T>
METALLOID_FUNC void pos_from_thread_index(uint2 index, thread T position[max_ndim], constant long* sizes, uint ndim) {
  position[0] = T(index.x);
  T rest = T(index.y);
  for (uint dim = 1; dim < ndim; ++dim) {
    const T size = T(sizes[dim]);
    position[dim] = rest % size;
    rest /= size;
  }
}

METALLOID_FUNC long offset_from_thread_index(long index, constant long* sizes, constant long* strides, uint ndim) {
  long position[max_ndim];
  pos_from_thread_index(index, position, sizes, ndim);
  return offset_from_coord(position, strides, ndim);
}

// The element at a byte offset.
template <typename T>
METALLOID_FUNC T val_at_offs(constant void* memory, long offset) {
  return *reinterpret_cast<constant T*>(static_cast<constant char*>(memory) + offset);
}
template <typename T>
METALLOID_FUNC T val_at_offs(device const void* memory, long offset) {
  return *reinterpret_cast<device const T*>(static_cast<device const char*>(memory) + offset);
}
template <typename T>
METALLOID_FUNC device T& ref_at_offs(device void* memory, long offset) {
  return *reinterpret_cast<device T*>(static_cast<device char*>(memory) + offset);
}

// The element of a type known at run time, as a T.
template <typename T, typename Pointer>
METALLOID_FUNC T val_at_offs(Pointer memory, long offset, ScalarType type) {
  switch (type) {
#define METALLOID_CASE(name, number, type) \
  case ScalarType::name: return cast_to<T>(val_at_offs<type>(memory, offset));
    C10_METAL_ALL_TYPES_FUNCTOR(METALLOID_CASE)
#undef METALLOID_CASE
  }
  return T(0);
}
template <typename T>
METALLOID_FUNC void store_at_offs(device void* memory, long offset, ScalarType type, T value) {
  switch (type) {
#define METALLOID_CASE(name, number, type) \
  case ScalarType::name: ref_at_offs<type>(memory, offset) = cast_to<type>(value); return;
    C10_METAL_ALL_TYPES_FUNCTOR(METALLOID_CASE)
#undef METALLOID_CASE
  }
}

// An operand of another type: first to the operator's type T, as torch promotes, then to what it computes in.
template <typename Compute, typename T, typename Pointer>
METALLOID_FUNC Compute operand_at_offs(Pointer memory, long offset, ScalarType type) {
  return cast_to<Compute>(val_at_offs<T>(memory, offset, type));
}

}  // namespace metal
}  // namespace c10

// A functor whose floating-point results have the argument's type; integers are computed in float.
#define DEFINE_UNARY_FLOATING_FUNCTOR(NAME)                                                         \
  struct NAME##_functor {                                                                           \
    template <typename T>                                                                           \
    METALLOID_FUNC ::metal::enable_if_t<::metal::is_floating_point_v<T>, T> operator()(const T x) { \
      return T(NAME(x));                                                                            \
    }                                                                                               \
    template <typename T>                                                                           \
    METALLOID_FUNC ::metal::enable_if_t<::metal::is_integral_v<T>, float> operator()(const T x) {   \
      return NAME(static_cast<float>(x));                                                           \
    }                                                                                               \
  }

#define DEFINE_BINARY_COMPARISON_FUNCTOR(NAME, OP)         \
  struct NAME##_functor {                                  \
    template <typename T>                                  \
    METALLOID_FUNC bool operator()(const T a, const T b) { \
      return a OP b;                                       \
    }                                                      \
  }

#include <metalloid/elementwise_binary.h>
#include <metalloid/elementwise_ternary.h>
#include <metalloid/elementwise_unary.h>

#endif
