// What PyTorch's Metal kernels and their hosts share: limits, scalar types, small helpers. Metalloid's own.
#ifndef METALLOID_C10_METAL_COMMON_H
#define METALLOID_C10_METAL_COMMON_H

#include <metal_array>
#include <metal_stdlib>

#include <c10/metal/float8.h>

#define C10_METAL_CONSTEXPR constant constexpr
#define C10_METAL_HAS_MPP 0

// `if IF_CONSTEXPR (...)`: Metal 3 has no `if constexpr`.
#if __METAL_VERSION__ >= 400
#define IF_CONSTEXPR constexpr
#else
#define IF_CONSTEXPR
#endif

// Name and number of torch's dtypes, and the type in Metal.
#define C10_METAL_ALL_TYPES_FUNCTOR(use)                                                                             \
  use(Byte, 0, uchar) use(Char, 1, char) use(Short, 2, short) use(Int, 3, int) use(Long, 4, long) use(Half, 5, half) \
      use(Float, 6, float) use(ComplexHalf, 8, half2) use(ComplexFloat, 9, float2) use(Bool, 11, bool)               \
          use(BFloat16, 15, bfloat) use(Float8_e4m3fn, 24, float8_e4m3fn) use(UInt16, 27, ushort)                    \
              use(UInt32, 28, uint) use(UInt64, 29, ulong)

// Elements per thread of the kernels named "_ilp", also as text for their names.
#define C10_METAL_ILP_PER_THREAD_STR "4"

namespace c10 {
namespace metal {

C10_METAL_CONSTEXPR unsigned max_ndim = 16;
C10_METAL_CONSTEXPR unsigned simdgroup_size = 32;
C10_METAL_CONSTEXPR unsigned ILP_PER_THREAD = 4;

template <typename T, unsigned N>
using array = ::metal::array<T, N>;
template <typename T>
using vec3 = ::metal::vec<T, 3>;
template <typename T>
using complex = ::metal::vec<T, 2>;

template <typename T>
METALLOID_FUNC T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}

// The next multiple of b.
template <typename T>
METALLOID_FUNC T round_up(T a, T b) {
  return ceil_div(a, b) * b;
}

enum class ScalarType {
#define METALLOID_ENUMERATOR(name, number, type) name = number,
  C10_METAL_ALL_TYPES_FUNCTOR(METALLOID_ENUMERATOR)
#undef METALLOID_ENUMERATOR
};

}  // namespace metal
}  // namespace c10

#endif
