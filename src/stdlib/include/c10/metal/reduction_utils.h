// Reductions over simdgroups and threadgroups for all of torch's element types. Partial simdgroups count only the
// lanes that they have; NaN wins every maximum and minimum. Threadgroup functions must be called by every thread, with
// memory for one element per simdgroup, and return the result to every thread. Metalloid's own.
#ifndef METALLOID_C10_METAL_REDUCTION_UTILS_H
#define METALLOID_C10_METAL_REDUCTION_UTILS_H

#include <metal_compute>
#include <metal_simdgroup>

#include <c10/metal/utils.h>

namespace c10 {
namespace metal {
namespace detail {

template <typename T>
constexpr constant bool is_wide_integer = ::metal::is_integral_v<T> && sizeof(T) == 8;

// What Metal's simdgroup functions take in place of T.
template <typename T>
struct simd_type : named_type<T> {};
template <>
struct simd_type<bfloat> : named_type<float> {};
template <typename T>
using simd_type_t = typename simd_type<T>::type;

METALLOID_FUNC uint first_lane_of(bool condition) { return ::metal::ctz(uint(ulong(::metal::simd_ballot(condition)))); }

}  // namespace detail

template <typename T, detail::require<detail::is_wide_integer<T>> = true>
METALLOID_FUNC T simd_broadcast(T value, ushort lane) {
  return as_type<T>(::metal::simd_broadcast(as_type<int2>(value), lane));
}
template <typename T, detail::require<!detail::is_wide_integer<T>> = true>
METALLOID_FUNC T simd_broadcast(T value, ushort lane) {
  return T(::metal::simd_broadcast(detail::simd_type_t<T>(value), lane));
}

template <typename T>
METALLOID_FUNC ::metal::enable_if_t<!detail::is_wide_integer<T> && !is_complex_v<T>, T> simd_sum(T value) {
  return T(::metal::simd_sum(detail::simd_type_t<T>(value)));
}
METALLOID_FUNC float2 simd_sum(float2 value) { return float2(::metal::simd_sum(value.x), ::metal::simd_sum(value.y)); }
// In pieces of 16 bits: 32 of them fit into 32 bits.
template <typename T>
METALLOID_FUNC ::metal::enable_if_t<detail::is_wide_integer<T>, T> simd_sum(T value) {
  ulong sum = 0;
  for (uint shift = 0; shift < 64; shift += 16) {
    sum += ulong(::metal::simd_sum(uint(ulong(value) >> shift) & 0xFFFFu)) << shift;
  }
  return T(sum);
}

template <typename T>
METALLOID_FUNC ::metal::enable_if_t<!detail::is_wide_integer<T> && !is_complex_v<T>, T> simd_prod(T value) {
  return T(::metal::simd_product(detail::simd_type_t<T>(value)));
}
// Lane by lane, over the lanes that are there.
template <typename T>
inline ::metal::enable_if_t<detail::is_wide_integer<T> || is_complex_v<T>, T> simd_prod(T value) {
  const uint active = uint(ulong(::metal::simd_active_threads_mask()));
  T product;
  if constexpr (is_complex_v<T>) {
    product = T(1, 0);
  } else {
    product = 1;
  }
  for (ushort lane = 0; lane < simdgroup_size; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    if constexpr (is_complex_v<T>) {
      product = mul(product, T(::metal::simd_broadcast(value.x, lane), ::metal::simd_broadcast(value.y, lane)));
    } else {
      product *= simd_broadcast(value, lane);
    }
  }
  return product;
}

#define METALLOID_SIMD_EXTREME(name, neutral)                                                             \
  template <typename T, detail::require<::metal::is_floating_point_v<T>> = true>                          \
  METALLOID_FUNC T name(T value) {                                                                        \
    if (::metal::simd_any(value != value)) return ::metal::numeric_limits<T>::quiet_NaN();                \
    return T(::metal::name(detail::simd_type_t<T>(value)));                                               \
  }                                                                                                       \
  template <typename T, detail::require<::metal::is_integral_v<T> && !detail::is_wide_integer<T>> = true> \
  METALLOID_FUNC T name(T value) {                                                                        \
    return ::metal::name(value);                                                                          \
  }                                                                                                       \
  /* The high words decide, then the low words of the lanes that have the winning high word. */           \
  template <typename T, detail::require<detail::is_wide_integer<T>> = true>                               \
  METALLOID_FUNC T name(T value) {                                                                        \
    using High = ::metal::conditional_t<::metal::is_signed_v<T>, int, uint>;                              \
    const High high = High(value >> 32), best = ::metal::name(high);                                      \
    const uint low = high == best ? uint(value) : neutral;                                                \
    return T(ulong(best) << 32 | ::metal::name(low));                                                     \
  }
METALLOID_SIMD_EXTREME(simd_max, 0u)
METALLOID_SIMD_EXTREME(simd_min, ~0u)
#undef METALLOID_SIMD_EXTREME

// The winner and the first lane that has it; the first NaN if there is one.
#define METALLOID_SIMD_ARGUMENT(name, extreme)                                              \
  template <typename T>                                                                     \
  METALLOID_FUNC pair<T, ushort> name(T value) {                                            \
    const T best = extreme(value);                                                          \
    const uint lane = detail::first_lane_of(best != best ? value != value : value == best); \
    return {best, ushort(lane)};                                                            \
  }                                                                                         \
  /* The same with the index that the winning lane gives. */                                \
  template <typename T, typename Index>                                                     \
  METALLOID_FUNC pair<T, Index> name(T value, Index index) {                                \
    const pair<T, ushort> winner = name(value);                                             \
    return {winner.first, simd_broadcast(index, winner.second)};                            \
  }
METALLOID_SIMD_ARGUMENT(simd_argmin, simd_min)
METALLOID_SIMD_ARGUMENT(simd_argmax, simd_max)
#undef METALLOID_SIMD_ARGUMENT

namespace detail {

METALLOID_FUNC void synchronize() { ::metal::threadgroup_barrier(::metal::mem_flags::mem_threadgroup); }

template <typename T>
struct simd_sum_of {
  METALLOID_FUNC static T neutral() { return T(0); }
  METALLOID_FUNC static T reduce(T value) { return simd_sum(value); }
};
template <typename T>
struct simd_prod_of {
  METALLOID_FUNC static T neutral() {
    if constexpr (is_complex_v<T>) {
      return T(1, 0);
    } else {
      return T(1);
    }
  }
  METALLOID_FUNC static T reduce(T value) { return simd_prod(value); }
};

// Every simdgroup reduces its values, then the first one reduces those results: 1024 threads are 32 simdgroups.
template <typename Operation, typename T>
METALLOID_FUNC T reduce_threadgroup(threadgroup T* partial, T value, uint index, uint size) {
  value = Operation::reduce(value);
  if (size <= simdgroup_size) return value;
  synchronize();  // an earlier reduction's readers
  if (index % simdgroup_size == 0) partial[index / simdgroup_size] = value;
  synchronize();
  if (index < simdgroup_size) {
    value = Operation::reduce(index < ceil_div(size, simdgroup_size) ? partial[index] : Operation::neutral());
    if (index == 0) partial[0] = value;
  }
  synchronize();
  return partial[0];
}

}  // namespace detail

template <typename T>
METALLOID_FUNC opmath_t<T> threadgroup_sum(threadgroup opmath_t<T>* data, T value, unsigned index, unsigned size) {
  return detail::reduce_threadgroup<detail::simd_sum_of<opmath_t<T>>>(data, static_cast<opmath_t<T>>(value), index,
                                                                      size);
}

template <typename T>
METALLOID_FUNC ::metal::array<opmath_t<T>, 2> threadgroup_sum2(threadgroup opmath_t<T>* first_data,
                                                               threadgroup opmath_t<T>* second_data, T first, T second,
                                                               unsigned index, unsigned size) {
  return {threadgroup_sum<T>(first_data, first, index, size), threadgroup_sum<T>(second_data, second, index, size)};
}

template <typename T>
METALLOID_FUNC opmath_t<T> threadgroup_prod(threadgroup opmath_t<T>* data, T value, unsigned index, unsigned size) {
  return detail::reduce_threadgroup<detail::simd_prod_of<opmath_t<T>>>(data, static_cast<opmath_t<T>>(value), index,
                                                                       size);
}

// Maximum and minimum as policies, for kernels that are written once for both.
#define METALLOID_EXTREME(Name, word, order, worst, infinite)                                           \
  template <typename T>                                                                                 \
  struct Name {                                                                                         \
    METALLOID_FUNC static constexpr T identity() {                                                      \
      if constexpr (::metal::is_floating_point_v<T>) {                                                  \
        return T(infinite);                                                                             \
      } else {                                                                                          \
        return ::metal::numeric_limits<T>::worst();                                                     \
      }                                                                                                 \
    }                                                                                                   \
    /* Whether the candidate takes the current one's place: NaN always wins, and stays. */              \
    METALLOID_FUNC static bool replace(T candidate, T current) {                                        \
      if (candidate != candidate) return current == current;                                            \
      return candidate order current;                                                                   \
    }                                                                                                   \
    METALLOID_FUNC static T combine(T a, T b) { return c10::metal::word(a, b); }                        \
    METALLOID_FUNC static T simd_reduce(T value) { return c10::metal::simd_##word(value); }             \
    METALLOID_FUNC static T neutral() { return identity(); }                                            \
    METALLOID_FUNC static T reduce(T value) { return simd_reduce(value); }                              \
    METALLOID_FUNC static T threadgroup_reduce(threadgroup T* shared, T value, uint index, uint size) { \
      return detail::reduce_threadgroup<Name>(shared, value, index, size);                              \
    }                                                                                                   \
  };                                                                                                    \
  template <typename T>                                                                                 \
  METALLOID_FUNC T threadgroup_##word(threadgroup T* data, T value, unsigned index, unsigned size) {    \
    return Name<T>::threadgroup_reduce(data, value, index, size);                                       \
  }
METALLOID_EXTREME(MaxOp, max, >, lowest, -INFINITY)
METALLOID_EXTREME(MinOp, min, <, max, INFINITY)
#undef METALLOID_EXTREME

// Mean, sum of squared deviations and weight of two sets together (Chan, Golub, LeVeque 1979).
template <typename T>
METALLOID_FUNC float3 welford_combine(T a, T b) {
  const float weight = a.z + b.z;
  if (weight == 0) return float3(0);
  const float share = b.z / weight;
  const float difference = b.x - a.x;
  return float3(a.x + difference * share, a.y + b.y + difference * difference * a.z * share, weight);
}

// Of data[0] to data[size - 1], one per thread. The result is also in data[0].
template <typename T>
float3 threadgroup_welford_combine(threadgroup T* data, unsigned index, unsigned size) {
  unsigned stride = 1;
  while (stride < size) stride *= 2;
  for (stride /= 2; stride > 0; stride /= 2) {
    detail::synchronize();
    if (index < stride && index + stride < size) data[index] = welford_combine(data[index], data[index + stride]);
  }
  detail::synchronize();
  return data[0];
}

// The index that belongs to the winner; of equal values the first simdgroup's first lane.
#define METALLOID_THREADGROUP_ARGUMENT(name, simd_name, Operation)                                          \
  template <typename T, typename Index>                                                                     \
  Index name(threadgroup T* values, threadgroup Index* indices, T value, Index value_index, unsigned index, \
             unsigned size) {                                                                               \
    const pair<T, Index> own = simd_name(value, value_index);                                               \
    if (size <= simdgroup_size) return own.second;                                                          \
    detail::synchronize();                                                                                  \
    if (index % simdgroup_size == 0) {                                                                      \
      values[index / simdgroup_size] = own.first;                                                           \
      indices[index / simdgroup_size] = own.second;                                                         \
    }                                                                                                       \
    detail::synchronize();                                                                                  \
    T best = values[0];                                                                                     \
    Index result = indices[0];                                                                              \
    for (unsigned i = 1; i < ceil_div(size, simdgroup_size); ++i) {                                         \
      if (Operation<T>::replace(values[i], best)) {                                                         \
        best = values[i];                                                                                   \
        result = indices[i];                                                                                \
      }                                                                                                     \
    }                                                                                                       \
    return result;                                                                                          \
  }
METALLOID_THREADGROUP_ARGUMENT(threadgroup_argmax, simd_argmax, MaxOp)
METALLOID_THREADGROUP_ARGUMENT(threadgroup_argmin, simd_argmin, MinOp)
#undef METALLOID_THREADGROUP_ARGUMENT

}  // namespace metal
}  // namespace c10

#endif
