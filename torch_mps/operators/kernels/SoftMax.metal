// Softmax and its logarithm over one dimension of contiguous tensors, and their gradients. A row is what one softmax is
// of: dim_size elements that lie inner_size apart. NAME_each: one thread per row; NAME_group: one threadgroup.
#include <c10/metal/reduction_utils.h>
#include <metal_stdlib>
using namespace metal;

struct Rows {
  long dim_size;
  long inner_size;
};

inline long start_of(long row, constant Rows& rows) {
  return row / rows.inner_size * rows.inner_size * rows.dim_size + row % rows.inner_size;
}

// The threads that share a row.
struct Alone {
  static uint lane(uint) { return 0; }
  static uint lanes(uint) { return 1; }
  static float sum(float value, threadgroup float*, uint, uint) { return value; }
  static float max(float value, threadgroup float*, uint, uint) { return value; }
};

struct Together {
  static uint lane(uint lane) { return lane; }
  static uint lanes(uint lanes) { return lanes; }
  static float sum(float value, threadgroup float* parts, uint lane, uint lanes) {
    value = c10::metal::simd_sum(value);
    if (lanes <= 32) return value;
    return c10::metal::simd_sum(of_all(value, 0.0f, parts, lane, lanes));
  }
  static float max(float value, threadgroup float* parts, uint lane, uint lanes) {
    value = c10::metal::simd_max(value);
    if (lanes <= 32) return value;
    return c10::metal::simd_max(of_all(value, -INFINITY, parts, lane, lanes));
  }
  // Every simdgroup gets the parts of all.
  static float of_all(float value, float identity, threadgroup float* parts, uint lane, uint lanes) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane % 32 == 0) parts[lane / 32] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return lane % 32 < lanes / 32 ? parts[lane % 32] : identity;
  }
};

inline float larger(float a, float b) { return isnan(a) || a > b ? a : b; }

// With is_row a row's elements lie side by side.
template <typename Threads, bool logarithm, bool is_row, typename T, typename O>
inline void softmax_of(
    device const T* input, device O* output, constant Rows& rows, uint lane, uint lanes, threadgroup float* parts) {
  const long step = is_row ? 1 : rows.inner_size;
  float largest = -INFINITY;
  for (long i = lane; i < rows.dim_size; i += lanes) largest = larger(largest, float(input[i * step]));
  largest = Threads::max(largest, parts, lane, lanes);
  // Exponentials are kept where the output can hold them.
  constexpr bool keeps = !logarithm && is_same_v<O, float>;
  float sum = 0;
  for (long i = lane; i < rows.dim_size; i += lanes) {
    const float power = exp(float(input[i * step]) - largest);
    if (keeps) output[i * step] = O(power);
    sum += power;
  }
  sum = Threads::sum(sum, parts, lane, lanes);
  const float scale = logarithm ? log(sum) : 1 / sum;
  for (long i = lane; i < rows.dim_size; i += lanes) {
    if (keeps) {
      output[i * step] = O(float(output[i * step]) * scale);
      continue;
    }
    const float x = float(input[i * step]) - largest;
    output[i * step] = O(logarithm ? x - scale : exp(x) * scale);
  }
}

template <typename Threads, bool logarithm, typename T, typename O>
inline void softmax(
    device const T* input, device O* output, constant Rows& rows, long row, uint lane, uint lanes,
    threadgroup float* parts) {
  const long start = start_of(row, rows);
  if (rows.inner_size == 1) {
    softmax_of<Threads, logarithm, true>(input + start, output + start, rows, lane, lanes, parts);
  } else {
    softmax_of<Threads, logarithm, false>(input + start, output + start, rows, lane, lanes, parts);
  }
}

template <typename Threads, bool logarithm, typename T, typename O>
inline void softmax_backward(
    device const T* gradient, device const T* output, device O* input_gradient, constant Rows& rows, long row,
    uint lane, uint lanes, threadgroup float* parts) {
  const long start = start_of(row, rows);
  gradient += start;
  output += start;
  input_gradient += start;
  float sum = 0;
  for (long i = lane; i < rows.dim_size; i += lanes) {
    const long at = i * rows.inner_size;
    sum += logarithm ? float(gradient[at]) : float(gradient[at]) * float(output[at]);
  }
  sum = Threads::sum(sum, parts, lane, lanes);
  for (long i = lane; i < rows.dim_size; i += lanes) {
    const long at = i * rows.inner_size;
    const float g = float(gradient[at]), y = float(output[at]);
    input_gradient[at] = O(logarithm ? g - exp(y) * sum : (g - sum) * y);
  }
}

template <bool logarithm, typename T, typename O>
kernel void softmax_each(
    device const T* input [[buffer(0)]], device O* output [[buffer(1)]], constant Rows& rows [[buffer(2)]],
    uint row [[thread_position_in_grid]]) {
  softmax<Alone, logarithm>(input, output, rows, row, 0, 1, static_cast<threadgroup float*>(nullptr));
}

template <bool logarithm, typename T, typename O>
kernel void softmax_group(
    device const T* input [[buffer(0)]], device O* output [[buffer(1)]], constant Rows& rows [[buffer(2)]],
    uint row [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
    uint lanes [[threads_per_threadgroup]]) {
  threadgroup float parts[32];
  softmax<Together, logarithm>(input, output, rows, row, lane, lanes, parts);
}

template <bool logarithm, typename T, typename O>
kernel void softmax_backward_each(
    device const T* gradient [[buffer(0)]], device const T* output [[buffer(1)]],
    device O* input_gradient [[buffer(2)]], constant Rows& rows [[buffer(3)]], uint row [[thread_position_in_grid]]) {
  softmax_backward<Alone, logarithm>(
      gradient, output, input_gradient, rows, row, 0, 1, static_cast<threadgroup float*>(nullptr));
}

template <bool logarithm, typename T, typename O>
kernel void softmax_backward_group(
    device const T* gradient [[buffer(0)]], device const T* output [[buffer(1)]],
    device O* input_gradient [[buffer(2)]], constant Rows& rows [[buffer(3)]],
    uint row [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
    uint lanes [[threads_per_threadgroup]]) {
  threadgroup float parts[32];
  softmax_backward<Together, logarithm>(gradient, output, input_gradient, rows, row, lane, lanes, parts);
}

#define SOFTMAX_(NAME, LOGARITHM, T, O)                                                                              \
  template [[host_name(#NAME "_each_" #O "_" #T)]] kernel void softmax_each<LOGARITHM, T, O>(                        \
      device const T*, device O*, constant Rows&, uint);                                                             \
  template [[host_name(#NAME "_group_" #O "_" #T)]] kernel void softmax_group<LOGARITHM, T, O>(                      \
      device const T*, device O*, constant Rows&, uint, uint, uint);                                                 \
  template [[host_name(#NAME "_backward_each_" #T "_" #O)]] kernel void softmax_backward_each<LOGARITHM, O, T>(      \
      device const O*, device const O*, device T*, constant Rows&, uint);                                            \
  template [[host_name(#NAME "_backward_group_" #T "_" #O)]] kernel void softmax_backward_group<LOGARITHM, O, T>(    \
      device const O*, device const O*, device T*, constant Rows&, uint, uint, uint);
#define SOFTMAX(T, O) SOFTMAX_(softmax, false, T, O) SOFTMAX_(log_softmax, true, T, O)

SOFTMAX(float, float)
SOFTMAX(half, half)
SOFTMAX(bfloat, bfloat)
SOFTMAX(half, float)
SOFTMAX(bfloat, float)
