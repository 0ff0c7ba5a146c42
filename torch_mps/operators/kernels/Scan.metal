// Cumulative sums, products and extremes with their places, along one dimension of contiguous tensors. NAME_each: one thread per row; NAME_group: one simdgroup per row, 32 elements at a time.
#include <metal_stdlib>
using namespace metal;

struct Rows {
  long dim_size;
  long inner_size;
};

inline long start_of(long row, constant Rows& rows) {
  return row / rows.inner_size * rows.inner_size * rows.dim_size + row % rows.inner_size;
}

template <typename T> struct wide { using type = long; };
template <> struct wide<float> { using type = float; };
template <> struct wide<half> { using type = float; };
template <> struct wide<bfloat> { using type = float; };
template <> struct wide<float2> { using type = float2; };
template <> struct wide<half2> { using type = float2; };
template <typename T> using wide_t = typename wide<T>::type;

template <typename T>
struct Indexed {
  T value;
  long index;
};

inline float shuffle_up(float value, ushort lanes) { return simd_shuffle_up(value, lanes); }
inline float2 shuffle_up(float2 value, ushort lanes) { return simd_shuffle_up(value, lanes); }
inline long shuffle_up(long value, ushort lanes) { return as_type<long>(simd_shuffle_up(as_type<int2>(value), lanes)); }
template <typename T>
inline Indexed<T> shuffle_up(Indexed<T> value, ushort lanes) {
  return {shuffle_up(value.value, lanes), shuffle_up(value.index, lanes)};
}
inline float last_of(float value) { return simd_broadcast(value, 31); }
inline float2 last_of(float2 value) { return simd_broadcast(value, 31); }
inline long last_of(long value) { return as_type<long>(simd_broadcast(as_type<int2>(value), 31)); }
template <typename T>
inline Indexed<T> last_of(Indexed<T> value) {
  return {last_of(value.value), last_of(value.index)};
}

inline bool is_nan(float value) { return isnan(value); }
inline bool is_nan(long) { return false; }

template <typename T>
struct CumulativeSum {
  using accumulator = wide_t<T>;
  static accumulator identity() { return accumulator(0); }
  static accumulator element(T x, long) { return accumulator(x); }
  static accumulator combine(accumulator a, accumulator b) { return a + b; }
  static void write(accumulator a, device T* output, device long*, long at) { output[at] = T(a); }
};

inline float product(float a, float b) { return a * b; }
inline long product(long a, long b) { return a * b; }
inline float2 product(float2 a, float2 b) { return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
inline float one(float) { return 1; }
inline long one(long) { return 1; }
inline float2 one(float2) { return float2(1, 0); }
template <typename T>
struct CumulativeProduct : CumulativeSum<T> {
  using accumulator = wide_t<T>;
  static accumulator identity() { return one(accumulator(0)); }
  static accumulator combine(accumulator a, accumulator b) { return product(a, b); }
};

// Of equal values the last one's place.
template <typename T, bool maximum>
struct CumulativeExtreme {
  using accumulator = Indexed<wide_t<T>>;
  static accumulator identity() { return {wide_t<T>(0), -1}; }
  static accumulator element(T x, long index) { return {wide_t<T>(x), index}; }
  static accumulator combine(accumulator a, accumulator b) {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    if (is_nan(b.value)) return b;
    return !is_nan(a.value) && (maximum ? b.value >= a.value : b.value <= a.value) ? b : a;
  }
  static void write(accumulator a, device T* output, device long* indices, long at) {
    output[at] = T(a.value);
    indices[at] = a.index;
  }
};
template <typename T> struct CumulativeMaximum : CumulativeExtreme<T, true> {};
template <typename T> struct CumulativeMinimum : CumulativeExtreme<T, false> {};

template <typename F, typename T>
inline void scan_row(device const T* input, device T* output, device long* indices, constant Rows& rows, long row) {
  long at = start_of(row, rows);
  typename F::accumulator total = F::identity();
  for (long i = 0; i < rows.dim_size; ++i, at += rows.inner_size) {
    total = F::combine(total, F::element(input[at], i));
    F::write(total, output, indices, at);
  }
}

// Of the lanes up to each.
template <typename F>
inline typename F::accumulator scan_simdgroup(typename F::accumulator total, ushort lane) {
  for (ushort lanes = 1; lanes < 32; lanes *= 2) {
    const typename F::accumulator other = shuffle_up(total, lanes);
    if (lane >= lanes) total = F::combine(other, total);
  }
  return total;
}

// With `is_run` a row's elements lie side by side.
template <typename F, bool is_run, typename T>
inline void scan_row_together(
    device const T* input, device T* output, device long* indices, constant Rows& rows, long start, ushort lane) {
  const long step = is_run ? 1 : rows.inner_size, whole = rows.dim_size / 32 * 32;
  typename F::accumulator before = F::identity();
  for (long first = 0; first < whole; first += 32) {  // with all lanes, which need no masks
    const long i = first + lane, at = start + i * step;
    const typename F::accumulator total = F::combine(before, scan_simdgroup<F>(F::element(input[at], i), lane));
    F::write(total, output, indices, at);
    before = last_of(total);
  }
  if (whole == rows.dim_size) return;
  const long i = whole + lane, at = start + i * step;
  typename F::accumulator total = i < rows.dim_size ? F::element(input[at], i) : F::identity();
  total = F::combine(before, scan_simdgroup<F>(total, lane));
  if (i < rows.dim_size) F::write(total, output, indices, at);
}

template <typename F, typename T>
inline void scan_row_together(
    device const T* input, device T* output, device long* indices, constant Rows& rows, long row, ushort lane) {
  const long start = start_of(row, rows);
  if (rows.inner_size == 1) {
    scan_row_together<F, true>(input, output, indices, rows, start, lane);
  } else {
    scan_row_together<F, false>(input, output, indices, rows, start, lane);
  }
}

template <typename F, typename T>
kernel void scan_each(
    device const T* input [[buffer(0)]], device T* output [[buffer(1)]], constant Rows& rows [[buffer(2)]],
    uint row [[thread_position_in_grid]]) {
  scan_row<F>(input, output, static_cast<device long*>(nullptr), rows, row);
}

template <typename F, typename T>
kernel void scan_group(
    device const T* input [[buffer(0)]], device T* output [[buffer(1)]], constant Rows& rows [[buffer(2)]],
    uint row [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
  scan_row_together<F>(input, output, static_cast<device long*>(nullptr), rows, row, lane);
}

template <typename F, typename T>
kernel void scan_with_places_each(
    device const T* input [[buffer(0)]], device T* output [[buffer(1)]], constant Rows& rows [[buffer(2)]],
    device long* indices [[buffer(3)]], uint row [[thread_position_in_grid]]) {
  scan_row<F>(input, output, indices, rows, row);
}

template <typename F, typename T>
kernel void scan_with_places_group(
    device const T* input [[buffer(0)]], device T* output [[buffer(1)]], constant Rows& rows [[buffer(2)]],
    device long* indices [[buffer(3)]], uint row [[threadgroup_position_in_grid]],
    ushort lane [[thread_index_in_simdgroup]]) {
  scan_row_together<F>(input, output, indices, rows, row, lane);
}

#define SCAN(NAME, F, T)                                                                                             \
  template [[host_name(#NAME "_each_" #T)]] kernel void scan_each<F<T>, T>(                                          \
      device const T*, device T*, constant Rows&, uint);                                                             \
  template [[host_name(#NAME "_group_" #T)]] kernel void scan_group<F<T>, T>(                                        \
      device const T*, device T*, constant Rows&, uint, ushort);
#define SCAN_WITH_PLACES(NAME, F, T)                                                                                 \
  template [[host_name(#NAME "_each_" #T)]] kernel void scan_with_places_each<F<T>, T>(                              \
      device const T*, device T*, constant Rows&, device long*, uint);                                               \
  template [[host_name(#NAME "_group_" #T)]] kernel void scan_with_places_group<F<T>, T>(                            \
      device const T*, device T*, constant Rows&, device long*, uint, ushort);
#define REAL(S, NAME, F)                                                                                             \
  S(NAME, F, float) S(NAME, F, half) S(NAME, F, bfloat) S(NAME, F, int) S(NAME, F, long) S(NAME, F, short)           \
  S(NAME, F, char) S(NAME, F, uchar)
#define COMPLEX(NAME, F) SCAN(NAME, F, float2) SCAN(NAME, F, half2)

REAL(SCAN, cumsum, CumulativeSum) COMPLEX(cumsum, CumulativeSum)
REAL(SCAN, cumprod, CumulativeProduct) COMPLEX(cumprod, CumulativeProduct)
REAL(SCAN_WITH_PLACES, cummax, CumulativeMaximum) SCAN_WITH_PLACES(cummax, CumulativeMaximum, bool)
REAL(SCAN_WITH_PLACES, cummin, CumulativeMinimum) SCAN_WITH_PLACES(cummin, CumulativeMinimum, bool)
