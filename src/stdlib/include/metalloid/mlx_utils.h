// What every kernel of metal_kernel (mx.fast.metal_kernel) can use without declaring it: names and behaviour as MLX
// documents and ships them, text our own.
#ifndef METALLOID_MLX_UTILS_H
#define METALLOID_MLX_UTILS_H

#include <metal_logging>
#include <metal_math>
#include <metal_stdlib>

using namespace metal;

#include <metalloid/mlx_bfloat_math.h>
#include <metalloid/mlx_complex.h>
#include <metalloid/mlx_indexing.h>

#define MTL_CONST constant
#define MLX_MTL_PRAGMA_UNROLL _Pragma("clang loop unroll(full)")
#define instantiate_kernel(name, func, ...) \
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>;

static constant constexpr int MAX_REDUCE_SPECIALIZED_DIMS = 4;
static constant constexpr int REDUCE_N_READS = 4;
static constant constexpr int REDUCE_N_WRITES = 4;
static constant constexpr int SOFTMAX_N_READS = 4;
static constant constexpr int RMS_N_READS = 4;
static constant constexpr int RMS_LOOPED_LIMIT = 4096;
static constant constexpr int CROSS_ENTROPY_N_READS = 4;

namespace mlx {
using os_log = metal::os_log;
}

inline uint16_t bfloat16_to_uint16(const bfloat16_t x) { return as_type<uint16_t>(x); }
inline bfloat16_t uint16_to_bfloat16(const uint16_t x) { return as_type<bfloat16_t>(x); }

template <bool condition, typename T, typename U>
struct ConditionalType {
  using type = metal::conditional_t<condition, T, U>;
};

// Elements in eight bytes.
template <typename U>
struct WorkPerThread {
  static_assert(sizeof(U) <= 8, "Type too large");
  static constexpr int constant n = 8 / sizeof(U);
};

// The ends of a type's range: for floating types max and min are the infinities.
template <typename U>
struct Limits {
  static constexpr constant U max = metal::numeric_limits<U>::max();
  static constexpr constant U min = metal::numeric_limits<U>::min();
  static constexpr constant U finite_max = max;
  static constexpr constant U finite_min = min;
};
#define METALLOID_MLX_FLOAT_LIMITS(type)                                            \
  template <>                                                                       \
  struct Limits<type> {                                                             \
    static constexpr constant type max = metal::numeric_limits<type>::infinity();   \
    static constexpr constant type min = -metal::numeric_limits<type>::infinity();  \
    static constexpr constant type finite_max = metal::numeric_limits<type>::max(); \
    static constexpr constant type finite_min = -finite_max;                        \
  };
METALLOID_MLX_FLOAT_LIMITS(half)
METALLOID_MLX_FLOAT_LIMITS(float)
METALLOID_MLX_FLOAT_LIMITS(bfloat)
#undef METALLOID_MLX_FLOAT_LIMITS
template <>
struct Limits<bool> {
  static constexpr constant bool max = true;
  static constexpr constant bool min = false;
};
template <typename T>
struct Limits<complex_t<T>> {
  static constexpr constant complex_t<T> max = complex_t<T>(Limits<T>::max, Limits<T>::max);
  static constexpr constant complex_t<T> min = complex_t<T>(Limits<T>::min, Limits<T>::min);
};

template <typename T, typename U>
inline T ceildiv(T N, U M) {
  return (N + M - 1) / M;
}

// Goldberg, "What every computer scientist should know about floating-point arithmetic" (1991), theorem 4.
// Fast math would take sum - 1 for x.
inline float log1p(float x) {
#pragma METAL fp math_mode(safe)
  const float sum = 1.0f + x;
  if (sum == Limits<float>::max) return sum;
  return sum == 1.0f ? x : x * (metal::log(sum) / (sum - 1.0f));
}
inline bfloat16_t log1p(bfloat16_t x) { return bfloat16_t(log1p(float(x))); }
// log|1 + z| from z's own squares where z is small, so that the one does not swallow them.
inline complex64_t log1p(complex64_t z) {
  const float x = z.real, y = z.imag;
  const float angle = metal::atan2(y, x + 1.0f);
  if (metal::precise::sqrt(x * x + y * y) >= 0.5f) {
    return {metal::log(metal::sqrt((x + 1.0f) * (x + 1.0f) + y * y)), angle};
  }
  const float excess = x * (2.0f + x) + y * y;
  return {excess == 0.0f ? x : 0.5f * log1p(excess), angle};
}

inline float hypot(float x, float y) {
  x = metal::fabs(x);
  y = metal::fabs(y);
  if (metal::isinf(x) || metal::isinf(y)) return Limits<float>::max;
  const float large = metal::fmax(x, y), small = metal::fmin(x, y);
  if (metal::isnan(x) || metal::isnan(y)) return metal::numeric_limits<float>::quiet_NaN();
  if (large == 0.0f) return 0.0f;
  const float ratio = small / large;
  return large * metal::precise::sqrt(1.0f + ratio * ratio);
}

// A number is true where any bit but its sign is set; comparisons would flush denormal numbers.
template <typename U, typename T>
inline U cast_to(T value) {
  return static_cast<U>(value);
}
template <>
inline bool cast_to<bool, float>(float value) {
  return (as_type<uint>(value) << 1) != 0;
}
template <>
inline bool cast_to<bool, bfloat16_t>(bfloat16_t value) {
  return (as_type<ushort>(value) & 0x7fff) != 0;
}
template <>
inline bool cast_to<bool, complex64_t>(complex64_t value) {
  return cast_to<bool>(value.real) || cast_to<bool>(value.imag);
}

// Shuffles of types that Metal's own functions do not take.
#define METALLOID_MLX_SHUFFLE(name)                                                                                   \
  inline uint64_t name(uint64_t data, uint16_t n) { return as_type<uint64_t>(metal::name(as_type<uint2>(data), n)); } \
  inline int64_t name(int64_t data, uint16_t n) { return as_type<int64_t>(metal::name(as_type<uint2>(data), n)); }    \
  inline bool name(bool data, uint16_t n) { return metal::name(uint32_t(data), n) != 0; }                             \
  inline complex64_t name(complex64_t data, uint16_t n) {                                                             \
    return complex64_t(metal::name(data.real, n), metal::name(data.imag, n));                                         \
  }
METALLOID_MLX_SHUFFLE(simd_shuffle)
METALLOID_MLX_SHUFFLE(simd_shuffle_down)
METALLOID_MLX_SHUFFLE(simd_shuffle_up)
#undef METALLOID_MLX_SHUFFLE

inline uint64_t simd_shuffle_and_fill_up(uint64_t data, uint64_t filling, uint16_t n) {
  return as_type<uint64_t>(metal::simd_shuffle_and_fill_up(as_type<uint2>(data), as_type<uint2>(filling), n));
}
inline int64_t simd_shuffle_and_fill_up(int64_t data, int64_t filling, uint16_t n) {
  return as_type<int64_t>(metal::simd_shuffle_and_fill_up(as_type<uint2>(data), as_type<uint2>(filling), n));
}
inline bool simd_shuffle_and_fill_up(bool data, bool filling, uint16_t n) {
  return metal::simd_shuffle_and_fill_up(uint32_t(data), uint32_t(filling), n) != 0;
}
inline complex64_t simd_shuffle_and_fill_up(complex64_t data, complex64_t filling, uint16_t n) {
  return complex64_t(metal::simd_shuffle_and_fill_up(data.real, filling.real, n),
                     metal::simd_shuffle_and_fill_up(data.imag, filling.imag, n));
}

#endif
