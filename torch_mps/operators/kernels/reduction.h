// What kernels that reduce have in common: where elements lie, and how threads share the work.
//
// A functor F says how elements become accumulators (F::element, with the place in the reduction), how two of these are
// combined, and what the result is. Kernels: NAME_each: one thread per result; NAME_group: one threadgroup per result,
// whose size is a multiple of the simdgroup's. Accumulators are float, int, long, float2, or structs of them.
#pragma once
#include <metal_stdlib>
using namespace metal;

// The host's struct of the same name is in Reduction.cpp. Strides are in elements, innermost dimension first.
struct ReductionShape {
  long count;  // elements per result
  int kept_dimensions;
  int reduced_dimensions;
  float parameter;
  int take_root;
  long kept_sizes[16];
  long kept_strides[16];  // of the input
  long first_strides[16];  // of the results
  long second_strides[16];
  long reduced_sizes[16];
  long reduced_strides[16];
};

inline long offset_of(long index, int dimensions, constant long* sizes, constant long* strides) {
  long offset = 0;
  for (int dimension = 0; dimension < dimensions - 1; ++dimension) {
    offset += (index % sizes[dimension]) * strides[dimension];
    index /= sizes[dimension];
  }
  return dimensions > 0 ? offset + index * strides[dimensions - 1] : 0;
}

template <typename T> struct wide { using type = int; };
template <> struct wide<float> { using type = float; };
template <> struct wide<half> { using type = float; };
template <> struct wide<bfloat> { using type = float; };
template <> struct wide<long> { using type = long; };
template <> struct wide<float2> { using type = float2; };
template <> struct wide<half2> { using type = float2; };
template <typename T> using wide_t = typename wide<T>::type;

template <typename T>
struct Indexed {
  T value;
  long index;
};
struct Moments {
  float mean;
  float squares;  // sum of squared distances from the mean
  float count;
};
template <typename T>
struct Range {
  T low;
  T high;
};

inline float shuffle_down(float value, ushort lanes) { return simd_shuffle_down(value, lanes); }
inline int shuffle_down(int value, ushort lanes) { return simd_shuffle_down(value, lanes); }
inline float2 shuffle_down(float2 value, ushort lanes) { return simd_shuffle_down(value, lanes); }
inline long shuffle_down(long value, ushort lanes) { return as_type<long>(simd_shuffle_down(as_type<int2>(value), lanes)); }
template <typename T>
inline Indexed<T> shuffle_down(Indexed<T> value, ushort lanes) {
  return {shuffle_down(value.value, lanes), shuffle_down(value.index, lanes)};
}
inline Moments shuffle_down(Moments value, ushort lanes) {
  return {shuffle_down(value.mean, lanes), shuffle_down(value.squares, lanes), shuffle_down(value.count, lanes)};
}
template <typename T>
inline Range<T> shuffle_down(Range<T> value, ushort lanes) {
  return {shuffle_down(value.low, lanes), shuffle_down(value.high, lanes)};
}

inline bool is_nan(float value) { return isnan(value); }
inline bool is_nan(int) { return false; }
inline bool is_nan(long) { return false; }
// Of integers in 64 bits.
template <typename T> struct sum_accumulator { using type = long; };
template <> struct sum_accumulator<float> { using type = float; };
template <> struct sum_accumulator<half> { using type = float; };
template <> struct sum_accumulator<bfloat> { using type = float; };
template <> struct sum_accumulator<float2> { using type = float2; };
template <> struct sum_accumulator<half2> { using type = float2; };
template <typename T> using sum_accumulator_t = typename sum_accumulator<T>::type;

template <typename T>
struct Sum {
  using accumulator = sum_accumulator_t<T>;
  static accumulator identity() { return accumulator(0); }
  static accumulator element(T x, long, constant ReductionShape&) { return accumulator(x); }
  static accumulator combine(accumulator a, accumulator b) { return a + b; }
  template <typename O>
  static O result(accumulator a, constant ReductionShape&) { return O(a); }
};

template <typename F, typename T>
inline typename F::accumulator accumulate(
    device const T* input, constant ReductionShape& shape, long result, uint lane, uint lanes) {
  device const T* first = input + offset_of(result, shape.kept_dimensions, shape.kept_sizes, shape.kept_strides);
  typename F::accumulator total = F::identity();
  if (lanes == 1 && shape.kept_dimensions == 1 && shape.kept_strides[0] == 1 && shape.reduced_dimensions == 1) {
    first = input + result;  // threads' elements lie side by side
    for (long index = 0; index < shape.count; ++index) {
      total = F::combine(total, F::element(first[index * shape.reduced_strides[0]], index, shape));
    }
    return total;
  }
  if (shape.reduced_dimensions == 1 && shape.reduced_strides[0] == 1) {  // side by side
    for (long index = lane; index < shape.count; index += lanes) {
      total = F::combine(total, F::element(first[index], index, shape));
    }
    return total;
  }
  for (long index = lane; index < shape.count; index += lanes) {
    const long offset = offset_of(index, shape.reduced_dimensions, shape.reduced_sizes, shape.reduced_strides);
    total = F::combine(total, F::element(first[offset], index, shape));
  }
  return total;
}

// The total of a simdgroup, in its first lane.
template <typename F>
inline typename F::accumulator of_simdgroup(typename F::accumulator total) {
  for (ushort lanes = 16; lanes > 0; lanes /= 2) {
    total = F::combine(total, shuffle_down(total, lanes));
  }
  return total;
}

// The total of a threadgroup, in its first thread.
template <typename F>
inline typename F::accumulator of_threadgroup(
    typename F::accumulator total, threadgroup typename F::accumulator* totals, uint lane, uint lanes) {
  total = of_simdgroup<F>(total);
  if (lanes <= 32) return total;
  if (lane % 32 == 0) totals[lane / 32] = total;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total = lane < lanes / 32 ? totals[lane] : F::identity();
  return of_simdgroup<F>(total);
}

template <typename F, typename T, typename O>
kernel void reduce_each(
    device const T* input [[buffer(0)]], device O* output [[buffer(1)]], constant ReductionShape& shape [[buffer(2)]],
    uint result [[thread_position_in_grid]]) {
  output[offset_of(result, shape.kept_dimensions, shape.kept_sizes, shape.first_strides)] =
      F::template result<O>(accumulate<F>(input, shape, result, 0, 1), shape);
}

template <typename F, typename T, typename O>
kernel void reduce_group(
    device const T* input [[buffer(0)]], device O* output [[buffer(1)]], constant ReductionShape& shape [[buffer(2)]],
    uint result [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
    uint lanes [[threads_per_threadgroup]]) {
  threadgroup typename F::accumulator totals[32];
  const auto total = of_threadgroup<F>(accumulate<F>(input, shape, result, lane, lanes), totals, lane, lanes);
  if (lane == 0) {
    output[offset_of(result, shape.kept_dimensions, shape.kept_sizes, shape.first_strides)] =
        F::template result<O>(total, shape);
  }
}

template <typename F, typename O, typename O2>
inline void write_both(
    typename F::accumulator total, device O* first, device O2* second, constant ReductionShape& shape, long result) {
  O value;
  O2 other;
  F::results(total, shape, value, other);
  first[offset_of(result, shape.kept_dimensions, shape.kept_sizes, shape.first_strides)] = value;
  second[offset_of(result, shape.kept_dimensions, shape.kept_sizes, shape.second_strides)] = other;
}

template <typename F, typename T, typename O, typename O2>
kernel void reduce_both_each(
    device const T* input [[buffer(0)]], device O* first [[buffer(1)]], constant ReductionShape& shape [[buffer(2)]],
    device O2* second [[buffer(3)]], uint result [[thread_position_in_grid]]) {
  write_both<F>(accumulate<F>(input, shape, result, 0, 1), first, second, shape, result);
}

template <typename F, typename T, typename O, typename O2>
kernel void reduce_both_group(
    device const T* input [[buffer(0)]], device O* first [[buffer(1)]], constant ReductionShape& shape [[buffer(2)]],
    device O2* second [[buffer(3)]], uint result [[threadgroup_position_in_grid]],
    uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  threadgroup typename F::accumulator totals[32];
  const auto total = of_threadgroup<F>(accumulate<F>(input, shape, result, lane, lanes), totals, lane, lanes);
  if (lane == 0) write_both<F>(total, first, second, shape, result);
}

#define REDUCTION(NAME, F, T, O)                                                                                     \
  template [[host_name(#NAME "_each_" #O "_" #T)]] kernel void reduce_each<F<T>, T, O>(                              \
      device const T*, device O*, constant ReductionShape&, uint);                                                   \
  template [[host_name(#NAME "_group_" #O "_" #T)]] kernel void reduce_group<F<T>, T, O>(                            \
      device const T*, device O*, constant ReductionShape&, uint, uint, uint);
#define REDUCTION_TO_BOTH(NAME, F, T, O, O2)                                                                         \
  template [[host_name(#NAME "_each_" #O "_" #T)]] kernel void reduce_both_each<F<T>, T, O, O2>(                     \
      device const T*, device O*, constant ReductionShape&, device O2*, uint);                                       \
  template [[host_name(#NAME "_group_" #O "_" #T)]] kernel void reduce_both_group<F<T>, T, O, O2>(                   \
      device const T*, device O*, constant ReductionShape&, device O2*, uint, uint, uint);

#define FLOATS(NAME, F) REDUCTION(NAME, F, float, float) REDUCTION(NAME, F, half, half) REDUCTION(NAME, F, bfloat, bfloat)
#define FLOATS_TO_FLOAT(NAME, F) REDUCTION(NAME, F, half, float) REDUCTION(NAME, F, bfloat, float)
#define INTEGERS(NAME, F)                                                                                            \
  REDUCTION(NAME, F, int, int) REDUCTION(NAME, F, long, long) REDUCTION(NAME, F, short, short)                       \
  REDUCTION(NAME, F, char, char) REDUCTION(NAME, F, uchar, uchar)
#define SMALL_INTEGERS_TO_LONG(NAME, F)                                                                              \
  REDUCTION(NAME, F, int, long) REDUCTION(NAME, F, short, long) REDUCTION(NAME, F, char, long)                       \
  REDUCTION(NAME, F, uchar, long) REDUCTION(NAME, F, bool, long)
#define COMPLEX(NAME, F) REDUCTION(NAME, F, float2, float2) REDUCTION(NAME, F, half2, half2)
#define NUMBERS_TO(NAME, F, O)                                                                                       \
  REDUCTION(NAME, F, float, O) REDUCTION(NAME, F, half, O) REDUCTION(NAME, F, bfloat, O) REDUCTION(NAME, F, int, O)  \
  REDUCTION(NAME, F, long, O) REDUCTION(NAME, F, short, O) REDUCTION(NAME, F, char, O) REDUCTION(NAME, F, uchar, O)
#define ALL_TO(NAME, F, O)                                                                                           \
  NUMBERS_TO(NAME, F, O) REDUCTION(NAME, F, bool, O) REDUCTION(NAME, F, float2, O) REDUCTION(NAME, F, half2, O)
#define NORMS(NAME, F)                                                                                               \
  FLOATS(NAME, F) FLOATS_TO_FLOAT(NAME, F) REDUCTION(NAME, F, float2, float) REDUCTION(NAME, F, half2, half)         \
  REDUCTION(NAME, F, half2, float)
#define BOTH(NAME, F, T, O2) REDUCTION_TO_BOTH(NAME, F, T, T, O2)
#define WITH_PLACES(NAME, F)                                                                                         \
  BOTH(NAME, F, float, long) BOTH(NAME, F, half, long) BOTH(NAME, F, bfloat, long) BOTH(NAME, F, int, long)          \
  BOTH(NAME, F, long, long) BOTH(NAME, F, short, long) BOTH(NAME, F, char, long) BOTH(NAME, F, uchar, long)          \
  BOTH(NAME, F, bool, long)
