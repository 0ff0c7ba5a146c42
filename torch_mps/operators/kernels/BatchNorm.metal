// Normalisation of batches: tensors of samples, channels and `inner` elements each, contiguous. Statistics and parameters
// have type P, data type T; sums are made in float.
#include <c10/metal/reduction_utils.h>
#include <metal_stdlib>
using namespace metal;

struct Batch {
  long samples;
  long channels;
  long inner;
  float epsilon;
  float momentum;
  int training;
  int has_weight;
  int has_bias;
  int has_running_mean;
  int has_running_variance;
  int has_input_gradient;
  int has_weight_gradient;
  int has_bias_gradient;
};

inline float sum_of_group(float value, threadgroup float* parts, uint lane, uint lanes) {
  value = c10::metal::simd_sum(value);
  if (lanes <= 32) return value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane % 32 == 0) parts[lane / 32] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return c10::metal::simd_sum(lane % 32 < lanes / 32 ? parts[lane % 32] : 0.0f);
}

// Element i of a channel.
inline long place_of(long channel, long at, constant Batch& batch) {
  const uint i = uint(at), inner = uint(batch.inner);
  return (i / inner * batch.channels + channel) * batch.inner + i % inner;
}

// One threadgroup per channel.
template <typename T, typename P>
kernel void batch_statistics(
    device const T* input [[buffer(0)]], device P* mean [[buffer(1)]], device P* scale [[buffer(2)]],
    device P* running_mean [[buffer(3)]], device P* running_variance [[buffer(4)]], constant Batch& batch [[buffer(5)]],
    uint channel [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
    uint lanes [[threads_per_threadgroup]]) {
  threadgroup float parts[32];
  const long count = batch.samples * batch.inner;
  float middle = 0;
  for (long i = lane; i < count; i += lanes) middle += float(input[place_of(channel, i, batch)]);
  middle = sum_of_group(middle, parts, lane, lanes) / count;
  float squares = 0;
  for (long i = lane; i < count; i += lanes) {
    const float x = float(input[place_of(channel, i, batch)]) - middle;
    squares += x * x;
  }
  squares = sum_of_group(squares, parts, lane, lanes);
  if (lane != 0) return;
  mean[channel] = P(middle);
  scale[channel] = P(1 / sqrt(squares / count + batch.epsilon));
  const float momentum = batch.momentum;
  if (batch.has_running_mean) {
    running_mean[channel] = P(momentum * middle + (1 - momentum) * float(running_mean[channel]));
  }
  if (batch.has_running_variance) {
    running_variance[channel] =
        P(momentum * (squares / (count - 1)) + (1 - momentum) * float(running_variance[channel]));
  }
}

// `deviation` is what to divide by: from training one over it, else the variance.
inline float scale_of(float deviation, constant Batch& batch) {
  return batch.training ? deviation : 1 / sqrt(deviation + batch.epsilon);
}

// One thread per element.
template <typename T, typename P>
kernel void batch_transform(
    device const T* input [[buffer(0)]], device const P* mean [[buffer(1)]], device const P* deviation [[buffer(2)]],
    device const P* weight [[buffer(3)]], device const P* bias [[buffer(4)]], device T* output [[buffer(5)]],
    constant Batch& batch [[buffer(6)]], uint at [[thread_position_in_grid]]) {
  const long channel = at / uint(batch.inner) % uint(batch.channels);
  float scale = scale_of(float(deviation[channel]), batch);
  if (batch.has_weight) scale *= float(weight[channel]);
  const float shift = batch.has_bias ? float(bias[channel]) : 0.0f;
  output[at] = T((float(input[at]) - float(mean[channel])) * scale + shift);
}

// One simdgroup for each channel of each sample.
template <typename T, typename P>
kernel void batch_transform_rows(
    device const T* input [[buffer(0)]], device const P* mean [[buffer(1)]], device const P* deviation [[buffer(2)]],
    device const P* weight [[buffer(3)]], device const P* bias [[buffer(4)]], device T* output [[buffer(5)]],
    constant Batch& batch [[buffer(6)]], uint row [[threadgroup_position_in_grid]],
    uint lane [[thread_position_in_threadgroup]]) {
  const uint channel = row % uint(batch.channels);
  float scale = scale_of(float(deviation[channel]), batch);
  if (batch.has_weight) scale *= float(weight[channel]);
  const float shift = batch.has_bias ? float(bias[channel]) : 0.0f, middle = float(mean[channel]);
  input += row * batch.inner;
  output += row * batch.inner;
  const long whole = batch.inner / 64 * 64;
  for (long first = 0; first < whole; first += 64) {
    const long i = first + lane;
    const float x = float(input[i]), y = float(input[i + 32]);
    output[i] = T((x - middle) * scale + shift);
    output[i + 32] = T((y - middle) * scale + shift);
  }
  if (whole == batch.inner) return;
  for (long i = whole + lane; i < batch.inner; i += 32) output[i] = T((float(input[i]) - middle) * scale + shift);
}

// One threadgroup per channel.
template <typename T, typename P>
kernel void batch_backward(
    device const T* gradient [[buffer(0)]], device const T* input [[buffer(1)]], device const P* mean [[buffer(2)]],
    device const P* deviation [[buffer(3)]], device const P* weight [[buffer(4)]],
    device T* input_gradient [[buffer(5)]], device P* weight_gradient [[buffer(6)]],
    device P* bias_gradient [[buffer(7)]], constant Batch& batch [[buffer(8)]],
    uint channel [[threadgroup_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
    uint lanes [[threads_per_threadgroup]]) {
  threadgroup float parts[32];
  const long count = batch.samples * batch.inner;
  const float middle = float(mean[channel]), scale = scale_of(float(deviation[channel]), batch);
  float sum = 0, product = 0;
  for (long i = lane; i < count; i += lanes) {
    const long at = place_of(channel, i, batch);
    const float g = float(gradient[at]);
    sum += g;
    product += g * (float(input[at]) - middle);
  }
  sum = sum_of_group(sum, parts, lane, lanes);
  product = sum_of_group(product, parts, lane, lanes) * scale;
  if (lane == 0) {
    if (batch.has_weight_gradient) weight_gradient[channel] = P(product);
    if (batch.has_bias_gradient) bias_gradient[channel] = P(sum);
  }
  if (!batch.has_input_gradient) return;
  const float factor = scale * (batch.has_weight ? float(weight[channel]) : 1.0f);
  for (long i = lane; i < count; i += lanes) {
    const long at = place_of(channel, i, batch);
    float g = float(gradient[at]);
    if (batch.training) g -= sum / count + (float(input[at]) - middle) * scale * product / count;
    input_gradient[at] = T(g * factor);
  }
}

#define BATCH_NORM(T, P)                                                                                             \
  template [[host_name("batch_statistics_" #T "_" #P)]] kernel void batch_statistics<T, P>(                          \
      device const T*, device P*, device P*, device P*, device P*, constant Batch&, uint, uint, uint);               \
  template [[host_name("batch_transform_" #T "_" #P)]] kernel void batch_transform<T, P>(                            \
      device const T*, device const P*, device const P*, device const P*, device const P*, device T*,                \
      constant Batch&, uint);                                                                                        \
  template [[host_name("batch_transform_rows_" #T "_" #P)]] kernel void batch_transform_rows<T, P>(                  \
      device const T*, device const P*, device const P*, device const P*, device const P*, device T*,                \
      constant Batch&, uint, uint);                                                                                  \
  template [[host_name("batch_backward_" #T "_" #P)]] kernel void batch_backward<T, P>(                              \
      device const T*, device const T*, device const P*, device const P*, device const P*, device T*, device P*,     \
      device P*, constant Batch&, uint, uint, uint);

BATCH_NORM(float, float)
BATCH_NORM(half, half)
BATCH_NORM(bfloat, bfloat)
BATCH_NORM(half, float)
BATCH_NORM(bfloat, float)
