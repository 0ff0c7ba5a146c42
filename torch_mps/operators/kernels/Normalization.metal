// Normalisation of layers and groups, with means or without (RMS), and gradients.
//
// A row is what is normalised together: channels_per_group channels of `inner` elements each, contiguous. Of a layer each
// element is a channel. Statistics and parameters have type P, data type T; sums are made in float.
#include <c10/metal/reduction_utils.h>
#include <metal_stdlib>
using namespace metal;

struct Groups {
  long rows;
  long groups;  // rows of one sample
  long channels_per_group;
  long inner;
  float epsilon;
  int has_weight;
  int has_bias;
};

inline float sum_of_group(float value, threadgroup float* parts, uint lane, uint lanes) {
  value = c10::metal::simd_sum(value);
  if (lanes <= 32) return value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane % 32 == 0) parts[lane / 32] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return c10::metal::simd_sum(lane % 32 < lanes / 32 ? parts[lane % 32] : 0.0f);
}

// The channel of an element of a row.
inline long channel_of(long row, long index, constant Groups& shape) {
  const long first = row % shape.groups * shape.channels_per_group;
  if (shape.inner == 1) return first + index;
  return first + uint(index) / uint(shape.inner);
}

template <bool centred, typename T, typename P>
kernel void normalize(
    device const T* input [[buffer(0)]], device const P* weight [[buffer(1)]], device const P* bias [[buffer(2)]],
    device T* output [[buffer(3)]], device P* mean [[buffer(4)]], device P* rstd [[buffer(5)]],
    constant Groups& shape [[buffer(6)]], uint row [[threadgroup_position_in_grid]],
    uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  threadgroup float parts[32];
  const long size = shape.channels_per_group * shape.inner;
  input += row * size;
  output += row * size;
  float middle = 0;
  if (centred) {
    for (long i = lane; i < size; i += lanes) middle += float(input[i]);
    middle = sum_of_group(middle, parts, lane, lanes) / size;
  }
  float squares = 0;
  for (long i = lane; i < size; i += lanes) {
    const float x = float(input[i]) - middle;
    squares += x * x;
  }
  const float scale = rsqrt(sum_of_group(squares, parts, lane, lanes) / size + shape.epsilon);
  if (lane == 0) {
    if (centred) mean[row] = P(middle);
    rstd[row] = P(scale);
  }
  for (long i = lane; i < size; i += lanes) {
    const long channel = channel_of(row, i, shape);
    float x = (float(input[i]) - middle) * scale;
    if (shape.has_weight) x *= float(weight[channel]);
    if (shape.has_bias) x += float(bias[channel]);
    output[i] = T(x);
  }
}

template <bool centred, typename T, typename P>
kernel void normalize_backward(
    device const T* gradient [[buffer(0)]], device const T* input [[buffer(1)]], device const P* mean [[buffer(2)]],
    device const P* rstd [[buffer(3)]], device const P* weight [[buffer(4)]], device T* result [[buffer(5)]],
    constant Groups& shape [[buffer(6)]], uint row [[threadgroup_position_in_grid]],
    uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  threadgroup float parts[32];
  const long size = shape.channels_per_group * shape.inner;
  gradient += row * size;
  input += row * size;
  result += row * size;
  const float middle = centred ? float(mean[row]) : 0.0f, scale = float(rstd[row]);
  float sum = 0, product = 0;
  for (long i = lane; i < size; i += lanes) {
    const float w = shape.has_weight ? float(weight[channel_of(row, i, shape)]) : 1.0f;
    const float g = float(gradient[i]) * w;
    sum += g;
    product += g * (float(input[i]) - middle) * scale;
  }
  sum = centred ? sum_of_group(sum, parts, lane, lanes) / size : 0.0f;
  product = sum_of_group(product, parts, lane, lanes) / size;
  for (long i = lane; i < size; i += lanes) {
    // Not fused, as the sums above: what cancels is exactly 0, which `scale` may make large.
#pragma clang fp contract(off)
    const float w = shape.has_weight ? float(weight[channel_of(row, i, shape)]) : 1.0f;
    const float g = float(gradient[i]) * w;
    const float x = (float(input[i]) - middle) * scale;
    result[i] = T(scale * (g - sum - x * product));
  }
}

// Gradients of weight and bias: one threadgroup per channel.
template <bool centred, typename T, typename P>
kernel void parameter_gradients(
    device const T* gradient [[buffer(0)]], device const T* input [[buffer(1)]], device const P* mean [[buffer(2)]],
    device const P* rstd [[buffer(3)]], device P* weight_gradient [[buffer(4)]], device P* bias_gradient [[buffer(5)]],
    constant Groups& shape [[buffer(6)]], uint channel [[threadgroup_position_in_grid]],
    uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  threadgroup float parts[32];
  const long channels = shape.groups * shape.channels_per_group, samples = shape.rows / shape.groups;
  float sum = 0, product = 0;
  for (long i = lane; i < samples * shape.inner; i += lanes) {
    const long sample = i / shape.inner, row = sample * shape.groups + channel / shape.channels_per_group;
    const long at = (sample * channels + channel) * shape.inner + i % shape.inner;
    const float g = float(gradient[at]);
    sum += g;
    product += g * (float(input[at]) - (centred ? float(mean[row]) : 0.0f)) * float(rstd[row]);
  }
  sum = sum_of_group(sum, parts, lane, lanes);
  product = sum_of_group(product, parts, lane, lanes);
  if (lane == 0) {
    if (shape.has_weight) weight_gradient[channel] = P(product);
    if (shape.has_bias) bias_gradient[channel] = P(sum);
  }
}

#define NORMALIZATION_(NAME, CENTRED, T, P)                                                                          \
  template [[host_name(#NAME "_" #T "_" #P)]] kernel void normalize<CENTRED, T, P>(                                  \
      device const T*, device const P*, device const P*, device T*, device P*, device P*, constant Groups&, uint,    \
      uint, uint);                                                                                                   \
  template [[host_name(#NAME "_backward_" #T "_" #P)]] kernel void normalize_backward<CENTRED, T, P>(                \
      device const T*, device const T*, device const P*, device const P*, device const P*, device T*,                \
      constant Groups&, uint, uint, uint);                                                                           \
  template [[host_name(#NAME "_parameters_" #T "_" #P)]] kernel void parameter_gradients<CENTRED, T, P>(             \
      device const T*, device const T*, device const P*, device const P*, device P*, device P*, constant Groups&,    \
      uint, uint, uint);
#define NORMALIZATION(T, P) NORMALIZATION_(group_norm, true, T, P) NORMALIZATION_(rms_norm, false, T, P)

NORMALIZATION(float, float)
NORMALIZATION(half, half)
NORMALIZATION(bfloat, bfloat)
NORMALIZATION(half, float)
NORMALIZATION(bfloat, float)
