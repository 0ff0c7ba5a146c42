// Sums, products, extremes with and without their places, truth, moments, norms.
#include "reduction.h"

inline bool is_true(float value) { return value != 0; }
inline bool is_true(int value) { return value != 0; }
inline bool is_true(long value) { return value != 0; }
inline bool is_true(float2 value) { return value.x != 0 || value.y != 0; }
inline float size_of_number(float value) { return fabs(value); }
inline float size_of_number(float2 value) {
  // hypot: the larger part is taken out, or squares overflow.
  const float large = max(fabs(value.x), fabs(value.y)), small = min(fabs(value.x), fabs(value.y));
  if (isnan(value.x) || isnan(value.y)) return isinf(value.x) || isinf(value.y) ? INFINITY : NAN;
  if (large == 0 || isinf(large)) return large;
  return large * sqrt(1 + (small / large) * (small / large));
}

template <typename T> struct Extreme {
  static T lowest() { return numeric_limits<T>::lowest(); }
  static T highest() { return numeric_limits<T>::max(); }
};
template <> struct Extreme<float> {
  static float lowest() { return -INFINITY; }
  static float highest() { return INFINITY; }
};
// Whether a goes before b; not a number goes before all numbers.
template <typename T>
inline bool above(T a, T b) { return is_nan(a) || (!is_nan(b) && a > b); }
template <typename T>
inline bool below(T a, T b) { return is_nan(a) || (!is_nan(b) && a < b); }

template <typename T>
struct SumOfNumbers : Sum<T> {
  using accumulator = wide_t<T>;
  static accumulator element(T x, long, constant ReductionShape&) {
    return is_nan(accumulator(x)) ? accumulator(0) : accumulator(x);
  }
};

template <typename T>
struct Mean : Sum<T> {
  template <typename O>
  static O result(sum_accumulator_t<T> a, constant ReductionShape& shape) { return O(a / float(shape.count)); }
};

template <typename T>
struct CountOfNonzero {
  using accumulator = long;
  static long identity() { return 0; }
  static long element(T x, long, constant ReductionShape&) { return is_true(wide_t<T>(x)) ? 1 : 0; }
  static long combine(long a, long b) { return a + b; }
  template <typename O>
  static O result(long a, constant ReductionShape&) { return O(a); }
};

inline float product(float a, float b) { return a * b; }
inline long product(long a, long b) { return a * b; }
inline float2 product(float2 a, float2 b) { return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
inline float one(float) { return 1; }
inline long one(long) { return 1; }
inline float2 one(float2) { return float2(1, 0); }
template <typename T>
struct Product : Sum<T> {
  using accumulator = sum_accumulator_t<T>;
  static accumulator identity() { return one(accumulator(0)); }
  static accumulator combine(accumulator a, accumulator b) { return product(a, b); }
};

template <typename T>
struct Maximum {
  using accumulator = wide_t<T>;
  static accumulator element(T x, long, constant ReductionShape&) { return accumulator(x); }
  template <typename O>
  static O result(accumulator a, constant ReductionShape&) { return O(a); }
  static accumulator identity() { return Extreme<accumulator>::lowest(); }
  static accumulator combine(accumulator a, accumulator b) { return above(b, a) ? b : a; }
};
template <typename T>
struct Minimum {
  using accumulator = wide_t<T>;
  static accumulator element(T x, long, constant ReductionShape&) { return accumulator(x); }
  template <typename O>
  static O result(accumulator a, constant ReductionShape&) { return O(a); }
  static accumulator identity() { return Extreme<accumulator>::highest(); }
  static accumulator combine(accumulator a, accumulator b) { return below(b, a) ? b : a; }
};

// Of floats: whether one is not a number is remembered beside the largest number, which is one instruction then.
template <typename T, bool maximum>
struct FloatExtremum {
  using accumulator = Extremum;
  static Extremum identity() { return {maximum ? -INFINITY : INFINITY, 0}; }
  static Extremum element(T x, long, constant ReductionShape&) {
    return {float(x), as_type<uint>(float(x)) & 0x7fffffff};
  }
  static Extremum combine(Extremum a, Extremum b) {
    const bool is_first = maximum ? a.value > b.value : a.value < b.value;
    return {is_first ? a.value : b.value, max(a.size, b.size)};
  }
  template <typename O>
  static O result(Extremum a, constant ReductionShape&) { return O(a.size > as_type<uint>(INFINITY) ? NAN : a.value); }
};
template <bool maximum>
struct ExtremumAcross {
  static Extremum total(Extremum a) { return {maximum ? simd_max(a.value) : simd_min(a.value), simd_max(a.size)}; }
};
template <> struct Maximum<float> : FloatExtremum<float, true> {};
template <> struct Maximum<half> : FloatExtremum<half, true> {};
template <> struct Maximum<bfloat> : FloatExtremum<bfloat, true> {};
template <> struct Minimum<float> : FloatExtremum<float, false> {};
template <> struct Minimum<half> : FloatExtremum<half, false> {};
template <> struct Minimum<bfloat> : FloatExtremum<bfloat, false> {};

#define ACROSS(T)                                                                                                    \
  template <> struct Across<Sum<T>> : SumAcross {};                                                                  \
  template <> struct Across<SumOfNumbers<T>> : SumAcross {};                                                         \
  template <> struct Across<Mean<T>> : SumAcross {};                                                                 \
  template <> struct Across<Maximum<T>> : ExtremumAcross<true> {};                                                   \
  template <> struct Across<Minimum<T>> : ExtremumAcross<false> {};
ACROSS(float) ACROSS(half) ACROSS(bfloat)

template <typename T>
struct Any {
  using accumulator = int;
  static int identity() { return 0; }
  static int element(T x, long, constant ReductionShape&) { return is_true(wide_t<T>(x)); }
  static int combine(int a, int b) { return a | b; }
  template <typename O>
  static O result(int a, constant ReductionShape&) { return O(a); }
};
template <typename T>
struct All : Any<T> {
  static int identity() { return 1; }
  static int combine(int a, int b) { return a & b; }
};

// The extreme value and its first place.
template <typename T>
struct Argmax {
  using value_type = wide_t<T>;
  using accumulator = Indexed<value_type>;
  static accumulator identity() { return {Extreme<value_type>::lowest(), numeric_limits<long>::max()}; }
  static accumulator element(T x, long index, constant ReductionShape&) { return {value_type(x), index}; }
  static accumulator combine(accumulator a, accumulator b) {
    const bool first = above(a.value, b.value), second = above(b.value, a.value);
    return first == second ? (a.index < b.index ? a : b) : (first ? a : b);
  }
  template <typename O>
  static O result(accumulator a, constant ReductionShape&) { return O(a.index); }
};
template <typename T>
struct Argmin : Argmax<T> {
  using value_type = wide_t<T>;
  using accumulator = Indexed<value_type>;
  static accumulator identity() { return {Extreme<value_type>::highest(), numeric_limits<long>::max()}; }
  static accumulator combine(accumulator a, accumulator b) {
    const bool first = below(a.value, b.value), second = below(b.value, a.value);
    return first == second ? (a.index < b.index ? a : b) : (first ? a : b);
  }
};
// Both, for kernels with two results.
template <typename T>
struct MaximumAndPlace : Argmax<T> {
  template <typename O, typename O2>
  static void results(Indexed<wide_t<T>> a, constant ReductionShape&, thread O& value, thread O2& index) {
    value = O(a.value);
    index = O2(a.index);
  }
};
template <typename T>
struct MinimumAndPlace : Argmin<T> {
  template <typename O, typename O2>
  static void results(Indexed<wide_t<T>> a, constant ReductionShape&, thread O& value, thread O2& index) {
    value = O(a.value);
    index = O2(a.index);
  }
};
template <typename T>
struct MinimumAndMaximum {
  using value_type = wide_t<T>;
  using accumulator = Range<value_type>;
  static accumulator identity() { return {Extreme<value_type>::highest(), Extreme<value_type>::lowest()}; }
  static accumulator element(T x, long, constant ReductionShape&) { return {value_type(x), value_type(x)}; }
  static accumulator combine(accumulator a, accumulator b) {
    return {below(b.low, a.low) ? b.low : a.low, above(b.high, a.high) ? b.high : a.high};
  }
  template <typename O, typename O2>
  static void results(accumulator a, constant ReductionShape&, thread O& low, thread O2& high) {
    low = O(a.low);
    high = O2(a.high);
  }
};

// shape.parameter is the correction of the number of elements. Chan's formula combines parts.
template <typename T>
struct Variance {
  using accumulator = Moments;
  static Moments identity() { return {0, 0, 0}; }
  static Moments element(T x, long, constant ReductionShape&) { return {float(x), 0, 1}; }
  static Moments combine(Moments a, Moments b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const float count = a.count + b.count, distance = b.mean - a.mean, share = b.count / count;
    return {a.mean + distance * share, a.squares + b.squares + distance * distance * a.count * share, count};
  }
  static float variance(Moments a, constant ReductionShape& shape) {
    if (isinf(a.mean)) return NAN;  // which it is not where the infinity came last
    const float variance = a.squares / max(float(shape.count) - shape.parameter, 0.0f);
    return shape.take_root ? sqrt(variance) : variance;
  }
  template <typename O>
  static O result(Moments a, constant ReductionShape& shape) { return O(variance(a, shape)); }
  template <typename O, typename O2>
  static void results(Moments a, constant ReductionShape& shape, thread O& first, thread O2& mean) {
    first = O(variance(a, shape));
    mean = O2(shape.count > 0 ? a.mean : NAN);
  }
};

// Norms: shape.parameter is the order.
template <typename T>
struct Norm0 {
  using accumulator = float;
  static float identity() { return 0; }
  static float element(T x, long, constant ReductionShape&) { return is_true(wide_t<T>(x)) ? 1 : 0; }
  static float combine(float a, float b) { return a + b; }
  template <typename O>
  static O result(float a, constant ReductionShape&) { return O(a); }
};
template <typename T>
struct Norm1 : Norm0<T> {
  static float element(T x, long, constant ReductionShape&) { return size_of_number(wide_t<T>(x)); }
};
inline float square(float x) { return x * x; }
inline float square(float2 x) { return dot(x, x); }
template <typename T>
struct Norm2 : Norm0<T> {
  static float element(T x, long, constant ReductionShape&) { return square(wide_t<T>(x)); }
  template <typename O>
  static O result(float a, constant ReductionShape&) { return O(sqrt(a)); }
};
template <typename T>
struct NormOfOrder : Norm1<T> {
  static float element(T x, long, constant ReductionShape& shape) {
    return pow(size_of_number(wide_t<T>(x)), shape.parameter);
  }
  template <typename O>
  static O result(float a, constant ReductionShape& shape) { return O(pow(a, 1 / shape.parameter)); }
};
template <typename T>
struct NormLargest : Norm1<T> {
  static float combine(float a, float b) { return above(b, a) ? b : a; }
};
template <typename T>
struct NormSmallest : Norm1<T> {
  static float identity() { return INFINITY; }
  static float combine(float a, float b) { return below(b, a) ? b : a; }
};

FLOATS(sum, Sum) FLOATS_TO_FLOAT(sum, Sum) SMALL_INTEGERS_TO_LONG(sum, Sum) INTEGERS(sum, Sum) COMPLEX(sum, Sum) REDUCTION(sum, Sum, bool, bool)
FLOATS(nansum, SumOfNumbers) FLOATS_TO_FLOAT(nansum, SumOfNumbers)
FLOATS(mean, Mean) FLOATS_TO_FLOAT(mean, Mean) COMPLEX(mean, Mean)
FLOATS(prod, Product) FLOATS_TO_FLOAT(prod, Product) INTEGERS(prod, Product) COMPLEX(prod, Product)
SMALL_INTEGERS_TO_LONG(prod, Product) REDUCTION(prod, Product, bool, bool)
FLOATS(amax, Maximum) INTEGERS(amax, Maximum) REDUCTION(amax, Maximum, bool, bool)
FLOATS(amin, Minimum) INTEGERS(amin, Minimum) REDUCTION(amin, Minimum, bool, bool)
ALL_TO(any, Any, bool) REDUCTION(any, Any, uchar, uchar)
ALL_TO(all, All, bool) REDUCTION(all, All, uchar, uchar)
ALL_TO(count_nonzero, CountOfNonzero, long)
NUMBERS_TO(argmax, Argmax, long)
NUMBERS_TO(argmin, Argmin, long)
FLOATS(var, Variance) FLOATS_TO_FLOAT(var, Variance)
NORMS(norm_0, Norm0)
NORMS(norm_1, Norm1)
NORMS(norm_2, Norm2)
NORMS(norm_of_order, NormOfOrder)
NORMS(norm_largest, NormLargest)
NORMS(norm_smallest, NormSmallest)
WITH_PLACES(max_with_place, MaximumAndPlace)
WITH_PLACES(min_with_place, MinimumAndPlace)
BOTH(aminmax, MinimumAndMaximum, float, float) BOTH(aminmax, MinimumAndMaximum, half, half)
BOTH(aminmax, MinimumAndMaximum, bfloat, bfloat) BOTH(aminmax, MinimumAndMaximum, int, int)
BOTH(aminmax, MinimumAndMaximum, long, long) BOTH(aminmax, MinimumAndMaximum, short, short)
BOTH(aminmax, MinimumAndMaximum, char, char) BOTH(aminmax, MinimumAndMaximum, uchar, uchar)
BOTH(aminmax, MinimumAndMaximum, bool, bool)
BOTH(var_mean, Variance, float, float) BOTH(var_mean, Variance, half, half) BOTH(var_mean, Variance, bfloat, bfloat)
