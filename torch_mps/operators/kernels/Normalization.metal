// Normalisation of layers and groups, with means or without (RMS), and gradients.
//
// A row is what is normalised together: channels_per_group channels of `inner` elements each, contiguous. Of a layer each
// element is a channel. Statistics and parameters have type P, data type T; sums are made in float.
#include <metal_stdlib>

#include "rows.h"
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

// The channel of an element of a row.
inline long channel_of(long row, long index, constant Groups& shape) {
  const long first = row % shape.groups * shape.channels_per_group;
  if (shape.inner == 1) return first + index;
  return first + uint(index) / uint(shape.inner);
}

// Elements of a part: all of one channel, each of another one, or `inner` ones side by side of one.
enum class Channels { one, each, runs };

template <typename T, typename P>
struct Normalized {
  device const T* input;
  device const P* weight;
  device const P* bias;
  float middle, scale;
  float plain(long i) const { return (float(input[i]) - middle) * scale; }
  template <Channels channels>
  float at(long i, constant Groups& shape) const {
    const long channel = channels == Channels::runs ? uint(i) / uint(shape.inner) : i;
    float x = plain(i);
    if (shape.has_weight) x *= float(weight[channel]);
    if (shape.has_bias) x += float(bias[channel]);
    return x;
  }
};

template <Channels channels, typename T, typename P>
inline void write_normalized(
    Normalized<T, P> normalized, device T* output, constant Groups& shape, Part part, uint lane) {
  if (channels == Channels::one) {
    const float factor = shape.has_weight ? float(normalized.weight[0]) : 1.0f;
    const float shift = shape.has_bias ? float(normalized.bias[0]) : 0.0f;
    for (long first = part.begin; first < part.whole; first += 64) {
      const long i = first + lane;
      const float x = normalized.plain(i), y = normalized.plain(i + 32);
      output[i] = T(x * factor + shift);
      output[i + 32] = T(y * factor + shift);
    }
    if (part.whole == part.end) return;
    for (long i = part.whole + lane; i < part.end; i += 32) output[i] = T(normalized.plain(i) * factor + shift);
    return;
  }
  for (long first = part.begin; first < part.whole; first += 64) {
    const long i = first + lane;
    const float x = normalized.template at<channels>(i, shape), y = normalized.template at<channels>(i + 32, shape);
    output[i] = T(x);
    output[i + 32] = T(y);
  }
  if (part.whole == part.end) return;
  for (long i = part.whole + lane; i < part.end; i += 32) output[i] = T(normalized.template at<channels>(i, shape));
}

template <bool centred, typename T, typename P>
kernel void normalize(
    device const T* input [[buffer(0)]], device const P* weight [[buffer(1)]], device const P* bias [[buffer(2)]],
    device T* output [[buffer(3)]], device P* mean [[buffer(4)]], device P* rstd [[buffer(5)]],
    constant Groups& shape [[buffer(6)]], uint row [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float parts[32];
  const Simdgroup place = {lane, simdgroup, simdgroups};
  const long size = shape.channels_per_group * shape.inner;
  const Part part(size, place);
  input += row * size;
  output += row * size;
  float middle = 0;
  if (centred) {
    float sum = 0, other = 0;
    for (long i = part.begin; i < part.whole; i += 64) {
      sum += float(input[i + lane]);
      other += float(input[i + lane + 32]);
    }
    for (long i = part.whole; i < part.end; i += 32) {
      if (i + lane < part.end) sum += float(input[i + lane]);
    }
    middle = sum_of_group(sum + other, parts, place) / size;
  }
  float squares = 0, other = 0;
  for (long i = part.begin; i < part.whole; i += 64) {
    const float x = float(input[i + lane]) - middle, y = float(input[i + lane + 32]) - middle;
    squares += x * x;
    other += y * y;
  }
  for (long i = part.whole; i < part.end; i += 32) {
    if (i + lane >= part.end) continue;
    const float x = float(input[i + lane]) - middle;
    squares += x * x;
  }
  const float scale = rsqrt(sum_of_group(squares + other, parts, place) / size + shape.epsilon);
  if (lane == 0 && simdgroup == 0) {
    if (centred) mean[row] = P(middle);
    rstd[row] = P(scale);
  }
  if (!shape.has_weight && !shape.has_bias) {
    const Normalized<T, P> normalized = {input, weight, bias, middle, scale};
    write_normalized<Channels::one>(normalized, output, shape, part, lane);
    return;
  }
  const long first_channel = row % shape.groups * shape.channels_per_group;
  const Normalized<T, P> normalized = {input, weight + first_channel, bias + first_channel, middle, scale};
  if (shape.inner == 1) {
    write_normalized<Channels::each>(normalized, output, shape, part, lane);
  } else if (shape.inner < 16) {
    write_normalized<Channels::runs>(normalized, output, shape, part, lane);
  } else {
    for (long channel = simdgroup; channel < shape.channels_per_group; channel += simdgroups) {
      const long first = channel * shape.inner;
      write_normalized<Channels::one>(
          Normalized<T, P>{input + first, normalized.weight + channel, normalized.bias + channel, middle, scale},
          output + first, shape, Part(shape.inner, Simdgroup{lane, 0, 1}), lane);
    }
  }
}

// Not fused, as the sums: what cancels is exactly 0, which `scale` may make large.
inline float gradient_of(float g, float x, float scale, float sum, float product) {
#pragma clang fp contract(off)
  return scale * (g - sum - x * product);
}

template <bool centred, typename T, typename P>
kernel void normalize_backward(
    device const T* gradient [[buffer(0)]], device const T* input [[buffer(1)]], device const P* mean [[buffer(2)]],
    device const P* rstd [[buffer(3)]], device const P* weight [[buffer(4)]], device T* result [[buffer(5)]],
    constant Groups& shape [[buffer(6)]], uint row [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float parts[32];
  const Simdgroup place = {lane, simdgroup, simdgroups};
  const long size = shape.channels_per_group * shape.inner;
  gradient += row * size;
  input += row * size;
  result += row * size;
  const float middle = centred ? float(mean[row]) : 0.0f, scale = float(rstd[row]);
  const Part part(size, place);
  const bool has_weight = shape.has_weight;
  float sum = 0, product = 0;
  for (long first = part.begin; first < part.whole; first += 32) {
    const long i = first + lane;
    const float g = float(gradient[i]) * (has_weight ? float(weight[channel_of(row, i, shape)]) : 1.0f);
    sum += g;
    product += g * (float(input[i]) - middle) * scale;
  }
  for (long i = part.whole + lane; i < part.end; i += 32) {
    const float g = float(gradient[i]) * (has_weight ? float(weight[channel_of(row, i, shape)]) : 1.0f);
    sum += g;
    product += g * (float(input[i]) - middle) * scale;
  }
  sum = centred ? sum_of_group(sum, parts, place) / size : 0.0f;
  product = sum_of_group(product, parts, place) / size;
  for (long first = part.begin; first < part.whole; first += 32) {
    const long i = first + lane;
    const float w = has_weight ? float(weight[channel_of(row, i, shape)]) : 1.0f;
    result[i] = T(gradient_of(float(gradient[i]) * w, (float(input[i]) - middle) * scale, scale, sum, product));
  }
  for (long i = part.whole + lane; i < part.end; i += 32) {
    const float w = has_weight ? float(weight[channel_of(row, i, shape)]) : 1.0f;
    result[i] = T(gradient_of(float(gradient[i]) * w, (float(input[i]) - middle) * scale, scale, sum, product));
  }
}

// Gradients of weight and bias: one threadgroup per channel.
template <bool centred, typename T, typename P>
kernel void parameter_gradients(
    device const T* gradient [[buffer(0)]], device const T* input [[buffer(1)]], device const P* mean [[buffer(2)]],
    device const P* rstd [[buffer(3)]], device P* weight_gradient [[buffer(4)]], device P* bias_gradient [[buffer(5)]],
    constant Groups& shape [[buffer(6)]], uint channel [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float parts[32];
  const Simdgroup place = {lane, simdgroup, simdgroups};
  const long channels = shape.groups * shape.channels_per_group, samples = shape.rows / shape.groups;
  float sum = 0, product = 0;
  for (long i = simdgroup * 32 + lane; i < samples * shape.inner; i += simdgroups * 32) {
    const long sample = i / shape.inner, row = sample * shape.groups + channel / shape.channels_per_group;
    const long at = (sample * channels + channel) * shape.inner + i % shape.inner;
    const float g = float(gradient[at]);
    sum += g;
    product += g * (float(input[at]) - (centred ? float(mean[row]) : 0.0f)) * float(rstd[row]);
  }
  sum = sum_of_group(sum, parts, place);
  product = sum_of_group(product, parts, place);
  if (lane == 0 && simdgroup == 0) {
    if (shape.has_weight) weight_gradient[channel] = P(product);
    if (shape.has_bias) bias_gradient[channel] = P(sum);
  }
}

#define NORMALIZATION_(NAME, CENTRED, T, P)                                                                          \
  template [[host_name(#NAME "_" #T "_" #P)]] kernel void normalize<CENTRED, T, P>(                                  \
      device const T*, device const P*, device const P*, device T*, device P*, device P*, constant Groups&, uint,    \
      uint, uint, uint);                                                                                                   \
  template [[host_name(#NAME "_backward_" #T "_" #P)]] kernel void normalize_backward<CENTRED, T, P>(                \
      device const T*, device const T*, device const P*, device const P*, device const P*, device T*,                \
      constant Groups&, uint, uint, uint, uint);                                                                           \
  template [[host_name(#NAME "_parameters_" #T "_" #P)]] kernel void parameter_gradients<CENTRED, T, P>(             \
      device const T*, device const T*, device const P*, device const P*, device P*, device P*, constant Groups&,    \
      uint, uint, uint, uint);
#define NORMALIZATION(T, P) NORMALIZATION_(group_norm, true, T, P) NORMALIZATION_(rms_norm, false, T, P)

NORMALIZATION(float, float)
NORMALIZATION(half, half)
NORMALIZATION(bfloat, bfloat)
NORMALIZATION(half, float)
NORMALIZATION(bfloat, float)
