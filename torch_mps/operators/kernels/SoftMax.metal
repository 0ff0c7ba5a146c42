// Softmax and its logarithm over one dimension of contiguous tensors, and their gradients. A row is what one softmax is
// of: dim_size elements that lie inner_size apart. NAME_each: one thread per row; NAME_rows: one simdgroup for several
// rows of elements side by side, one after the other; NAME_group: one threadgroup.
#include <c10/metal/reduction_utils.h>
#include <metal_stdlib>

#include "rows.h"
using namespace metal;

struct Rows {
  long dim_size;
  long inner_size;
  long count;
  long per_group;  // of NAME_rows
};

inline long start_of(long row, constant Rows& rows) {
  return row / rows.inner_size * rows.inner_size * rows.dim_size + row % rows.inner_size;
}

inline float larger(float a, float b) { return isnan(a) || a > b ? a : b; }

inline float max_of_group(float value, threadgroup float* parts, Simdgroup simdgroup) {
  value = c10::metal::simd_max(value);
  if (simdgroup.count == 1) return value;
  return c10::metal::simd_max(of_simdgroups(value, -INFINITY, parts, simdgroup));
}

// What the sum of exponentials makes of an element.
template <bool logarithm>
inline float softmax_of(float x, float largest, float scale) {
  return logarithm ? x - largest - scale : exp(x - largest) * scale;
}

template <bool logarithm, typename T, typename O>
kernel void softmax_each(
    device const T* input [[buffer(0)]], device O* output [[buffer(1)]], constant Rows& rows [[buffer(2)]],
    uint row [[thread_position_in_grid]]) {
  const long step = rows.inner_size, start = start_of(row, rows);
  input += start;
  output += start;
  float largest = -INFINITY;
  for (long i = 0; i < rows.dim_size; ++i) largest = larger(largest, float(input[i * step]));
  // Exponentials are kept where the output can hold them.
  constexpr bool keeps = !logarithm && is_same_v<O, float>;
  float sum = 0;
  for (long i = 0; i < rows.dim_size; ++i) {
    const float power = exp(float(input[i * step]) - largest);
    if (keeps) output[i * step] = O(power);
    sum += power;
  }
  const float scale = logarithm ? log(sum) : 1 / sum;
  for (long i = 0; i < rows.dim_size; ++i) {
    output[i * step] = O(
        keeps ? float(output[i * step]) * scale : softmax_of<logarithm>(float(input[i * step]), largest, scale));
  }
}

template <bool logarithm, bool is_row, typename T, typename O>
inline void softmax_together(
    device const T* input, device O* output, constant Rows& rows, Simdgroup simdgroup, threadgroup float* parts) {
  const long step = is_row ? 1 : rows.inner_size;
  const Part part(rows.dim_size, simdgroup);
  const uint lane = simdgroup.lane;
  float largest = -INFINITY, other = -INFINITY;
  for (long i = part.begin; i < part.whole; i += 64) {
    largest = larger(largest, float(input[(i + lane) * step]));
    other = larger(other, float(input[(i + lane + 32) * step]));
  }
  for (long i = part.whole; i < part.end; i += 32) {
    if (i + lane < part.end) largest = larger(largest, float(input[(i + lane) * step]));
  }
  largest = max_of_group(larger(largest, other), parts, simdgroup);
  constexpr bool keeps = !logarithm && is_same_v<O, float>;
  float sum = 0, other_sum = 0;
  for (long i = part.begin; i < part.whole; i += 64) {
    const float first = exp(float(input[(i + lane) * step]) - largest);
    const float second = exp(float(input[(i + lane + 32) * step]) - largest);
    if (keeps) {
      output[(i + lane) * step] = O(first);
      output[(i + lane + 32) * step] = O(second);
    }
    sum += first;
    other_sum += second;
  }
  for (long i = part.whole; i < part.end; i += 32) {
    if (i + lane >= part.end) continue;
    const float power = exp(float(input[(i + lane) * step]) - largest);
    if (keeps) output[(i + lane) * step] = O(power);
    sum += power;
  }
  sum = sum_of_group(sum + other_sum, parts, simdgroup);
  const float scale = logarithm ? log(sum) : 1 / sum;
  for (long i = part.begin; i < part.whole; i += 32) {
    const long at = (i + lane) * step;
    output[at] = O(keeps ? float(output[at]) * scale : softmax_of<logarithm>(float(input[at]), largest, scale));
  }
  for (long i = part.whole; i < part.end; i += 32) {
    if (i + lane >= part.end) continue;
    const long at = (i + lane) * step;
    output[at] = O(keeps ? float(output[at]) * scale : softmax_of<logarithm>(float(input[at]), largest, scale));
  }
}

template <bool logarithm, typename T, typename O>
kernel void softmax_group(
    device const T* input [[buffer(0)]], device O* output [[buffer(1)]], constant Rows& rows [[buffer(2)]],
    uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float parts[32];
  const long start = start_of(row, rows);
  const Simdgroup place = {lane, simdgroup, simdgroups};
  if (rows.inner_size == 1) {
    softmax_together<logarithm, true>(input + start, output + start, rows, place, parts);
  } else {
    softmax_together<logarithm, false>(input + start, output + start, rows, place, parts);
  }
}

template <bool logarithm, typename T, typename O>
kernel void softmax_rows(
    device const T* input [[buffer(0)]], device O* output [[buffer(1)]], constant Rows& rows [[buffer(2)]],
    uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const long first = group * rows.per_group, end = min(first + rows.per_group, rows.count);
  for (long row = first; row < end; ++row) {
    const long start = row * rows.dim_size;
    softmax_together<logarithm, true>(input + start, output + start, rows, Simdgroup{lane, 0, 1}, nullptr);
  }
}

template <bool logarithm>
inline float term_of(float gradient, float output) {
  return logarithm ? gradient : gradient * output;
}
template <bool logarithm>
inline float gradient_of(float gradient, float output, float sum) {
  return logarithm ? gradient - exp(output) * sum : (gradient - sum) * output;
}

template <bool logarithm, typename T, typename O>
kernel void softmax_backward_each(
    device const T* gradient [[buffer(0)]], device const T* output [[buffer(1)]],
    device O* input_gradient [[buffer(2)]], constant Rows& rows [[buffer(3)]], uint row [[thread_position_in_grid]]) {
  const long start = start_of(row, rows);
  float sum = 0;
  for (long i = 0; i < rows.dim_size; ++i) {
    const long at = start + i * rows.inner_size;
    sum += term_of<logarithm>(float(gradient[at]), float(output[at]));
  }
  for (long i = 0; i < rows.dim_size; ++i) {
    const long at = start + i * rows.inner_size;
    input_gradient[at] = O(gradient_of<logarithm>(float(gradient[at]), float(output[at]), sum));
  }
}

template <bool logarithm, bool is_row, typename T, typename O>
inline void softmax_backward_together(
    device const T* gradient, device const T* output, device O* input_gradient, constant Rows& rows,
    Simdgroup simdgroup, threadgroup float* parts) {
  const long step = is_row ? 1 : rows.inner_size;
  const Part part(rows.dim_size, simdgroup);
  const uint lane = simdgroup.lane;
  float sum = 0;
  for (long i = part.begin; i < part.whole; i += 32) {
    const long at = (i + lane) * step;
    sum += term_of<logarithm>(float(gradient[at]), float(output[at]));
  }
  for (long i = part.whole; i < part.end; i += 32) {
    const long at = (i + lane) * step;
    if (i + lane < part.end) sum += term_of<logarithm>(float(gradient[at]), float(output[at]));
  }
  sum = sum_of_group(sum, parts, simdgroup);
  for (long i = part.begin; i < part.whole; i += 32) {
    const long at = (i + lane) * step;
    input_gradient[at] = O(gradient_of<logarithm>(float(gradient[at]), float(output[at]), sum));
  }
  for (long i = part.whole; i < part.end; i += 32) {
    const long at = (i + lane) * step;
    if (i + lane < part.end) input_gradient[at] = O(gradient_of<logarithm>(float(gradient[at]), float(output[at]), sum));
  }
}

template <bool logarithm, typename T, typename O>
kernel void softmax_backward_group(
    device const T* gradient [[buffer(0)]], device const T* output [[buffer(1)]],
    device O* input_gradient [[buffer(2)]], constant Rows& rows [[buffer(3)]],
    uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float parts[32];
  const long start = start_of(row, rows);
  const Simdgroup place = {lane, simdgroup, simdgroups};
  if (rows.inner_size == 1) {
    softmax_backward_together<logarithm, true>(
        gradient + start, output + start, input_gradient + start, rows, place, parts);
  } else {
    softmax_backward_together<logarithm, false>(
        gradient + start, output + start, input_gradient + start, rows, place, parts);
  }
}

#define SOFTMAX_(NAME, LOGARITHM, T, O)                                                                              \
  template [[host_name(#NAME "_each_" #O "_" #T)]] kernel void softmax_each<LOGARITHM, T, O>(                        \
      device const T*, device O*, constant Rows&, uint);                                                             \
  template [[host_name(#NAME "_rows_" #O "_" #T)]] kernel void softmax_rows<LOGARITHM, T, O>(                        \
      device const T*, device O*, constant Rows&, uint, uint);                                                       \
  template [[host_name(#NAME "_group_" #O "_" #T)]] kernel void softmax_group<LOGARITHM, T, O>(                      \
      device const T*, device O*, constant Rows&, uint, uint, uint, uint);                                                 \
  template [[host_name(#NAME "_backward_each_" #T "_" #O)]] kernel void softmax_backward_each<LOGARITHM, O, T>(      \
      device const O*, device const O*, device T*, constant Rows&, uint);                                            \
  template [[host_name(#NAME "_backward_group_" #T "_" #O)]] kernel void softmax_backward_group<LOGARITHM, O, T>(    \
      device const O*, device const O*, device T*, constant Rows&, uint, uint, uint, uint);
#define SOFTMAX(T, O) SOFTMAX_(softmax, false, T, O) SOFTMAX_(log_softmax, true, T, O)

SOFTMAX(float, float)
SOFTMAX(half, half)
SOFTMAX(bfloat, bfloat)
SOFTMAX(half, float)
SOFTMAX(bfloat, float)
