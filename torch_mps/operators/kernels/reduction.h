// What kernels that reduce have in common: where elements lie, and how threads share the work.
//
// A functor F says how elements become accumulators (F::element, with the place in the reduction), how two of these are
// combined, and what the result is. Kernels: NAME_each: one thread per result; NAME_group: one threadgroup per result,
// whose size is a multiple of the simdgroup's; NAME_rows: one simdgroup for several results, one after the other;
// NAME_columns: one simdgroup for results whose elements lie side by side.
// Accumulators are float, int, long, float2, or structs of them.
#pragma once
#include <metal_stdlib>

#include "rows.h"
using namespace metal;

// The host's struct of the same name is in Reduction.cpp. Strides are in elements, innermost dimension first.
struct ReductionShape {
  long count;  // elements per result
  int kept_dimensions;
  int reduced_dimensions;
  float parameter;
  int take_root;
  long results;
  long results_per_group;  // of NAME_rows, and of NAME_columns: 32 or 128
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
struct Extremum {
  float value;  // of numbers
  uint size;    // the largest, without signs, as bits: what is not a number is above infinity
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
inline Extremum shuffle_down(Extremum value, ushort lanes) {
  return {shuffle_down(value.value, lanes), uint(shuffle_down(int(value.size), lanes))};
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

// Elements that lie `step` apart. Rounds in which all lanes take part have bounds that all lanes share.
template <typename F, typename T>
inline typename F::accumulator accumulate_run(
    typename F::accumulator total, device const T* first, long step, long begin, long end, long index, uint lane,
    constant ReductionShape& shape) {
  long at = begin;
  if (at + 128 <= end) {
    typename F::accumulator other = F::identity();
    for (; at + 128 <= end; at += 128) {
      const long i = at + lane;
      total = F::combine(
          total, F::combine(
                     F::element(first[i * step], index + i, shape),
                     F::element(first[(i + 32) * step], index + i + 32, shape)));
      other = F::combine(
          other, F::combine(
                     F::element(first[(i + 64) * step], index + i + 64, shape),
                     F::element(first[(i + 96) * step], index + i + 96, shape)));
    }
    total = F::combine(total, other);
  }
  for (; at < end; at += 32) {
    const long i = at + lane;
    if (i < end) total = F::combine(total, F::element(first[i * step], index + i, shape));
  }
  return total;
}

// What a lane has of a result.
template <typename F, typename T>
inline typename F::accumulator accumulate_share(
    device const T* input, constant ReductionShape& shape, long result, Simdgroup simdgroup) {
  device const T* first = input + offset_of(result, shape.kept_dimensions, shape.kept_sizes, shape.kept_strides);
  typename F::accumulator total = F::identity();
  const uint lane = simdgroup.lane;
  const long step = shape.reduced_dimensions > 0 ? shape.reduced_strides[0] : 1;
  if (shape.reduced_dimensions <= 1) {
    const Part part(shape.count, simdgroup);
    return step == 1 ? accumulate_run<F>(total, first, 1, part.begin, part.end, 0, lane, shape)
                     : accumulate_run<F>(total, first, step, part.begin, part.end, 0, lane, shape);
  }
  const long run = shape.reduced_sizes[0];
  if (run >= 64) {
    for (long index = run * simdgroup.index; index < shape.count; index += run * simdgroup.count) {
      device const T* from =
          first +
          offset_of(index / run, shape.reduced_dimensions - 1, shape.reduced_sizes + 1, shape.reduced_strides + 1);
      total = step == 1 ? accumulate_run<F>(total, from, 1, 0, run, index, lane, shape)
                        : accumulate_run<F>(total, from, step, 0, run, index, lane, shape);
    }
    return total;
  }
  for (long index = simdgroup.index * 32 + lane; index < shape.count; index += simdgroup.count * 32) {
    const long offset = offset_of(index, shape.reduced_dimensions, shape.reduced_sizes, shape.reduced_strides);
    total = F::combine(total, F::element(first[offset], index, shape));
  }
  return total;
}

// A result of one thread.
template <typename F, typename T>
inline typename F::accumulator accumulate(device const T* input, constant ReductionShape& shape, long result) {
  device const T* first = input + offset_of(result, shape.kept_dimensions, shape.kept_sizes, shape.kept_strides);
  typename F::accumulator total = F::identity();
  for (long index = 0; index < shape.count; ++index) {
    const long offset = offset_of(index, shape.reduced_dimensions, shape.reduced_sizes, shape.reduced_strides);
    total = F::combine(total, F::element(first[offset], index, shape));
  }
  return total;
}

// The total of a simdgroup, in its first lane. Specialised where Metal has an operation for it.
template <typename F>
struct Across {
  static typename F::accumulator total(typename F::accumulator total) {
    for (ushort lanes = 16; lanes > 0; lanes /= 2) {
      total = F::combine(total, shuffle_down(total, lanes));
    }
    return total;
  }
};
struct SumAcross {
  static float total(float total) { return simd_sum(total); }
};

// The total of a threadgroup, in its first lane.
template <typename F>
inline typename F::accumulator of_threadgroup(
    typename F::accumulator total, threadgroup typename F::accumulator* totals, Simdgroup simdgroup) {
  total = Across<F>::total(total);
  if (simdgroup.count == 1) return total;
  if (simdgroup.lane == 0) totals[simdgroup.index] = total;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total = simdgroup.lane < simdgroup.count ? totals[simdgroup.lane] : F::identity();
  return Across<F>::total(total);
}

template <typename F, typename T, typename O>
kernel void reduce_each(
    device const T* input [[buffer(0)]], device O* output [[buffer(1)]], constant ReductionShape& shape [[buffer(2)]],
    uint result [[thread_position_in_grid]]) {
  output[offset_of(result, shape.kept_dimensions, shape.kept_sizes, shape.first_strides)] =
      F::template result<O>(accumulate<F>(input, shape, result), shape);
}

template <typename F, typename T, typename O>
kernel void reduce_group(
    device const T* input [[buffer(0)]], device O* output [[buffer(1)]], constant ReductionShape& shape [[buffer(2)]],
    uint result [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup typename F::accumulator totals[32];
  const Simdgroup place = {lane, simdgroup, simdgroups};
  const auto total = of_threadgroup<F>(accumulate_share<F>(input, shape, result, place), totals, place);
  if (lane == 0 && simdgroup == 0) {
    output[offset_of(result, shape.kept_dimensions, shape.kept_sizes, shape.first_strides)] =
        F::template result<O>(total, shape);
  }
}

// Several runs at a time: the processor reads ahead in each of them, while one alone makes it wait at its begin.
constant constexpr int runs_at_once = 4;

// Except where the elements of one run are enough to do: there it has read ahead meanwhile.
template <typename A> struct SeveralRuns { static bool pay() { return true; } };
template <> struct SeveralRuns<Extremum> { static bool pay() { return false; } };
template <> struct SeveralRuns<Moments> { static bool pay() { return false; } };

template <typename F, typename T>
inline void accumulate_runs(
    thread typename F::accumulator* totals, device const T* thread const* first, uint lane,
    constant ReductionShape& shape) {
  for (int run = 0; run < runs_at_once; ++run) totals[run] = F::identity();
  long at = 0;
  for (; at + 32 <= shape.count; at += 32) {
    const long i = at + lane;
    for (int run = 0; run < runs_at_once; ++run) {
      totals[run] = F::combine(totals[run], F::element(first[run][i], i, shape));
    }
  }
  const long i = at + lane;
  if (i < shape.count) {
    for (int run = 0; run < runs_at_once; ++run) {
      totals[run] = F::combine(totals[run], F::element(first[run][i], i, shape));
    }
  }
}

template <typename F, typename T, typename O>
kernel void reduce_rows(
    device const T* input [[buffer(0)]], device O* output [[buffer(1)]], constant ReductionShape& shape [[buffer(2)]],
    uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const long begin = group * shape.results_per_group, end = min(begin + shape.results_per_group, shape.results);
  long result = begin;
  const bool is_row = shape.reduced_dimensions == 1 && shape.reduced_strides[0] == 1;
  if (is_row && SeveralRuns<typename F::accumulator>::pay()) {
    for (; result + runs_at_once <= end; result += runs_at_once) {
      device const T* first[runs_at_once];
      for (int run = 0; run < runs_at_once; ++run) {
        first[run] = input + offset_of(result + run, shape.kept_dimensions, shape.kept_sizes, shape.kept_strides);
      }
      typename F::accumulator totals[runs_at_once];
      accumulate_runs<F>(totals, first, lane, shape);
      for (int run = 0; run < runs_at_once; ++run) {
        const auto total = Across<F>::total(totals[run]);
        if (lane == 0) {
          output[offset_of(result + run, shape.kept_dimensions, shape.kept_sizes, shape.first_strides)] =
              F::template result<O>(total, shape);
        }
      }
    }
  }
  for (; result < end; ++result) {
    const auto total = Across<F>::total(accumulate_share<F>(input, shape, result, Simdgroup{lane, 0, 1}));
    if (lane == 0) {
      output[offset_of(result, shape.kept_dimensions, shape.kept_sizes, shape.first_strides)] =
          F::template result<O>(total, shape);
    }
  }
}

// The kept dimension with the smallest stride is cut into columns that a simdgroup has side by side.
struct Columns {
  long first, count, outer;
  Columns(uint group, constant ReductionShape& shape) {
    const long size = shape.kept_sizes[0], groups = (size + shape.results_per_group - 1) / shape.results_per_group;
    outer = group / groups;
    first = group % groups * shape.results_per_group;
    count = min(shape.results_per_group, size - first);
  }
  // Of the first one in its tensor.
  long offset(constant long* sizes, constant long* strides, int dimensions) const {
    return first * strides[0] + offset_of(outer, dimensions - 1, sizes + 1, strides + 1);
  }
};

template <typename F, typename T, int columns>
inline void accumulate_columns(
    device const T* first, constant ReductionShape& shape, thread typename F::accumulator* totals) {
  for (int column = 0; column < columns; ++column) totals[column] = F::identity();
  // The dimension with the smallest stride is walked, the others are looked up.
  const long run = shape.reduced_dimensions > 1 ? shape.reduced_sizes[0] : shape.count;
  const long step = shape.reduced_dimensions > 0 ? shape.reduced_strides[0] : 0;
  for (long begin = 0; begin < shape.count; begin += run) {
    long offset = 0;
    if (begin > 0) {
      offset =
          offset_of(begin / run, shape.reduced_dimensions - 1, shape.reduced_sizes + 1, shape.reduced_strides + 1);
    }
    for (long index = 0; index < run; ++index) {
      device const T* row = first + (offset + index * step);
      for (int column = 0; column < columns; ++column) {
        totals[column] = F::combine(totals[column], F::element(row[32 * column], begin + index, shape));
      }
    }
  }
}

template <typename F, typename T, typename O>
kernel void reduce_columns(
    device const T* input [[buffer(0)]], device O* output [[buffer(1)]], constant ReductionShape& shape [[buffer(2)]],
    uint group [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]]) {
  const Columns columns(group, shape);
  const int dimensions = shape.kept_dimensions;
  input += columns.offset(shape.kept_sizes, shape.kept_strides, dimensions) + lane;
  output += columns.offset(shape.kept_sizes, shape.first_strides, dimensions);
  typename F::accumulator totals[4];
  if (columns.count == 128) {
    accumulate_columns<F, T, 4>(input, shape, totals);
    for (int column = 0; column < 4; ++column) {
      output[(lane + 32 * column) * shape.first_strides[0]] = F::template result<O>(totals[column], shape);
    }
    return;
  }
  for (long first = 0; first < columns.count; first += 32) {
    if (first + lane >= columns.count) return;
    accumulate_columns<F, T, 1>(input + first, shape, totals);
    output[(first + lane) * shape.first_strides[0]] = F::template result<O>(totals[0], shape);
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
  write_both<F>(accumulate<F>(input, shape, result), first, second, shape, result);
}

template <typename F, typename T, typename O, typename O2>
kernel void reduce_both_columns(
    device const T* input [[buffer(0)]], device O* first [[buffer(1)]], constant ReductionShape& shape [[buffer(2)]],
    device O2* second [[buffer(3)]], uint group [[threadgroup_position_in_grid]],
    uint lane [[thread_position_in_threadgroup]]) {
  const Columns columns(group, shape);
  const int dimensions = shape.kept_dimensions;
  input += columns.offset(shape.kept_sizes, shape.kept_strides, dimensions);
  first += columns.offset(shape.kept_sizes, shape.first_strides, dimensions);
  second += columns.offset(shape.kept_sizes, shape.second_strides, dimensions);
  for (long column = lane; column < columns.count; column += 32) {
    typename F::accumulator total;
    accumulate_columns<F, T, 1>(input + column, shape, &total);
    O value;
    O2 other;
    F::results(total, shape, value, other);
    first[column * shape.first_strides[0]] = value;
    second[column * shape.second_strides[0]] = other;
  }
}

template <typename F, typename T, typename O, typename O2>
kernel void reduce_both_rows(
    device const T* input [[buffer(0)]], device O* first [[buffer(1)]], constant ReductionShape& shape [[buffer(2)]],
    device O2* second [[buffer(3)]], uint group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  const long begin = group * shape.results_per_group, end = min(begin + shape.results_per_group, shape.results);
  for (long result = begin; result < end; ++result) {
    const auto total = Across<F>::total(accumulate_share<F>(input, shape, result, Simdgroup{lane, 0, 1}));
    if (lane == 0) write_both<F>(total, first, second, shape, result);
  }
}

template <typename F, typename T, typename O, typename O2>
kernel void reduce_both_group(
    device const T* input [[buffer(0)]], device O* first [[buffer(1)]], constant ReductionShape& shape [[buffer(2)]],
    device O2* second [[buffer(3)]], uint result [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup typename F::accumulator totals[32];
  const Simdgroup place = {lane, simdgroup, simdgroups};
  const auto total = of_threadgroup<F>(accumulate_share<F>(input, shape, result, place), totals, place);
  if (lane == 0 && simdgroup == 0) write_both<F>(total, first, second, shape, result);
}

#define REDUCTION(NAME, F, T, O)                                                                                     \
  template [[host_name(#NAME "_each_" #O "_" #T)]] kernel void reduce_each<F<T>, T, O>(                              \
      device const T*, device O*, constant ReductionShape&, uint);                                                   \
  template [[host_name(#NAME "_rows_" #O "_" #T)]] kernel void reduce_rows<F<T>, T, O>(                              \
      device const T*, device O*, constant ReductionShape&, uint, uint);                                             \
  template [[host_name(#NAME "_columns_" #O "_" #T)]] kernel void reduce_columns<F<T>, T, O>(                        \
      device const T*, device O*, constant ReductionShape&, uint, uint);                                             \
  template [[host_name(#NAME "_group_" #O "_" #T)]] kernel void reduce_group<F<T>, T, O>(                            \
      device const T*, device O*, constant ReductionShape&, uint, uint, uint, uint);
#define REDUCTION_TO_BOTH(NAME, F, T, O, O2)                                                                         \
  template [[host_name(#NAME "_each_" #O "_" #T)]] kernel void reduce_both_each<F<T>, T, O, O2>(                     \
      device const T*, device O*, constant ReductionShape&, device O2*, uint);                                       \
  template [[host_name(#NAME "_rows_" #O "_" #T)]] kernel void reduce_both_rows<F<T>, T, O, O2>(                     \
      device const T*, device O*, constant ReductionShape&, device O2*, uint, uint);                                 \
  template [[host_name(#NAME "_columns_" #O "_" #T)]] kernel void reduce_both_columns<F<T>, T, O, O2>(               \
      device const T*, device O*, constant ReductionShape&, device O2*, uint, uint);                                 \
  template [[host_name(#NAME "_group_" #O "_" #T)]] kernel void reduce_both_group<F<T>, T, O, O2>(                   \
      device const T*, device O*, constant ReductionShape&, device O2*, uint, uint, uint, uint);

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
