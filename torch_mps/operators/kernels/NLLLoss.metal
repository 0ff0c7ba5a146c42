// The negative log likelihood of classes, and its gradient.
#include <c10/metal/error.h>
#include <c10/metal/reduction_utils.h>
#include <metal_stdlib>
using namespace metal;

// Input of samples, classes and `inner` elements each; a class for each of samples * inner.
struct Classes {
  long count;  // samples * inner
  long classes;
  long inner;
  long ignored;
  int has_weight;
  int mean;
  int single_gradient;  // one for all, not one for each
};

// The target, or -1 if it does not count.
inline long target_of(
    device const long* targets, long i, constant Classes& shape, device c10::metal::ErrorMessages* errors) {
  const long target = targets[i];
  if (target == shape.ignored) return -1;
  if (target >= 0 && target < shape.classes) return target;
  TORCH_REPORT_ERROR(errors, "Target ", target, " is out of bounds.");
  return -1;
}

inline long place_of(long i, long target, constant Classes& shape) {
  return (i / shape.inner * shape.classes + target) * shape.inner + i % shape.inner;
}

template <typename T>
kernel void nll_loss_of_each(
    device const T* input [[buffer(0)]], device const long* targets [[buffer(1)]],
    device const T* weight [[buffer(2)]], device T* output [[buffer(3)]], constant Classes& shape [[buffer(4)]],
    device c10::metal::ErrorMessages* errors [[buffer(5)]], uint i [[thread_position_in_grid]]) {
  const long target = target_of(targets, i, shape, errors);
  float loss = 0;
  if (target >= 0) {
    loss = -float(input[place_of(i, target, shape)]) * (shape.has_weight ? float(weight[target]) : 1.0f);
  }
  output[i] = T(loss);
}

// One threadgroup.
template <typename T>
kernel void nll_loss_of_all(
    device const T* input [[buffer(0)]], device const long* targets [[buffer(1)]],
    device const T* weight [[buffer(2)]], device T* output [[buffer(3)]], constant Classes& shape [[buffer(4)]],
    device c10::metal::ErrorMessages* errors [[buffer(5)]], device T* total_weight [[buffer(6)]],
    uint lane [[thread_position_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
  threadgroup float losses[32], weights[32];
  float loss = 0, total = 0;
  for (long i = lane; i < shape.count; i += lanes) {
    const long target = target_of(targets, i, shape, errors);
    if (target < 0) continue;
    const float w = shape.has_weight ? float(weight[target]) : 1.0f;
    loss -= float(input[place_of(i, target, shape)]) * w;
    total += w;
  }
  loss = c10::metal::simd_sum(loss);
  total = c10::metal::simd_sum(total);
  if (lane % 32 == 0) {
    losses[lane / 32] = loss;
    weights[lane / 32] = total;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane != 0) return;
  for (uint part = 1; part < lanes / 32; ++part) {
    loss += losses[part];
    total += weights[part];
  }
  output[0] = T(shape.mean ? loss / total : loss);
  total_weight[0] = T(total);
}

template <typename T>
kernel void nll_loss_backward(
    device const T* gradient [[buffer(0)]], device const long* targets [[buffer(1)]],
    device const T* weight [[buffer(2)]], device T* result [[buffer(3)]], constant Classes& shape [[buffer(4)]],
    device c10::metal::ErrorMessages* errors [[buffer(5)]], device const T* total_weight [[buffer(6)]],
    uint i [[thread_position_in_grid]]) {
  const long target = target_of(targets, i, shape, errors);
  if (target < 0) return;
  float g = float(gradient[shape.single_gradient ? 0 : i]);
  if (shape.mean) g /= float(total_weight[0]);
  result[place_of(i, target, shape)] = T(-g * (shape.has_weight ? float(weight[target]) : 1.0f));
}

#define NLL_LOSS(T)                                                                                                  \
  template [[host_name("nll_loss_of_each_" #T)]] kernel void nll_loss_of_each<T>(                                    \
      device const T*, device const long*, device const T*, device T*, constant Classes&,                            \
      device c10::metal::ErrorMessages*, uint);                                                                      \
  template [[host_name("nll_loss_of_all_" #T)]] kernel void nll_loss_of_all<T>(                                      \
      device const T*, device const long*, device const T*, device T*, constant Classes&,                            \
      device c10::metal::ErrorMessages*, device T*, uint, uint);                                                     \
  template [[host_name("nll_loss_backward_" #T)]] kernel void nll_loss_backward<T>(                                  \
      device const T*, device const long*, device const T*, device T*, constant Classes&,                            \
      device c10::metal::ErrorMessages*, device const T*, uint);

NLL_LOSS(float)
NLL_LOSS(half)
NLL_LOSS(bfloat)
