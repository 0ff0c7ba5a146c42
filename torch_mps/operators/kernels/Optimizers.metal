// Steps of optimisers over one tensor each, and what mixed precision does to gradients and their scale.
#include <c10/metal/expm1f.h>
#include <metal_stdlib>

using namespace metal;

// operations/Optimizers.cpp has the same structures for the host. Where a tensor is not given, another one is bound.
struct Common {
  float lr;
  float weight_decay;
  bool maximize;
  bool has_scale;
  bool has_found_inf;
};

struct Adam {
  Common common;
  float beta1, beta2, one_minus_beta1, one_minus_beta2, log_beta1, log_beta2, eps;
  bool amsgrad;
  bool decouples_weight_decay;  // AdamW
};

struct Sgd {
  Common common;
  float momentum, one_minus_dampening;
  bool nesterov;
  bool is_first_step;
};

struct Adagrad {
  Common common;
  float lr_decay, eps;
};

// The gradient as the optimiser sees it; an unscaled one is also what others see afterwards.
template <typename T>
inline float gradient(device T& grad, constant Common& common, const device float* scale) {
  float value = float(grad);
  if (common.has_scale) {
    value /= *scale;
    grad = T(value);
  }
  return common.maximize ? -value : value;
}

inline bool is_skipped(constant Common& common, const device float* found_inf) {
  return common.has_found_inf && *found_inf == 1.0f;
}

template <typename T>
kernel void fused_adam(
    device T* params [[buffer(0)]],
    device T* grads [[buffer(1)]],
    device T* exp_avgs [[buffer(2)]],
    device T* exp_avg_sqs [[buffer(3)]],
    device T* max_exp_avg_sqs [[buffer(4)]],
    const device float* step [[buffer(5)]],
    const device float* scale [[buffer(6)]],
    const device float* found_inf [[buffer(7)]],
    constant Adam& adam [[buffer(8)]],
    uint i [[thread_position_in_grid]]) {
  if (is_skipped(adam.common, found_inf)) return;
  float grad = gradient(grads[i], adam.common, scale), param = float(params[i]);
  if (adam.decouples_weight_decay) {
    param -= adam.common.lr * adam.common.weight_decay * param;
  } else {
    grad += adam.common.weight_decay * param;
  }
  float exp_avg = float(exp_avgs[i]);
  exp_avg += adam.one_minus_beta1 * (grad - exp_avg);
  const float exp_avg_sq = adam.beta2 * float(exp_avg_sqs[i]) + adam.one_minus_beta2 * grad * grad;
  exp_avgs[i] = T(exp_avg);
  exp_avg_sqs[i] = T(exp_avg_sq);
  float divisor = exp_avg_sq;
  if (adam.amsgrad) {
    divisor = max(float(max_exp_avg_sqs[i]), exp_avg_sq);
    max_exp_avg_sqs[i] = T(divisor);
  }
  // 1 - beta^step without cancellation
  const float correction1 = -c10::metal::expm1f(*step * adam.log_beta1), correction2 = -c10::metal::expm1f(*step * adam.log_beta2);
  const float denominator = precise::sqrt(divisor) / precise::sqrt(correction2) + adam.eps;
  params[i] = T(param - adam.common.lr / correction1 * exp_avg / denominator);
}

template <typename T>
kernel void fused_sgd(
    device T* params [[buffer(0)]],
    device T* grads [[buffer(1)]],
    device T* momentum_buffers [[buffer(2)]],
    const device float* scale [[buffer(3)]],
    const device float* found_inf [[buffer(4)]],
    constant Sgd& sgd [[buffer(5)]],
    uint i [[thread_position_in_grid]]) {
  if (is_skipped(sgd.common, found_inf)) return;
  float grad = gradient(grads[i], sgd.common, scale);
  const float param = float(params[i]);
  grad += sgd.common.weight_decay * param;
  if (sgd.momentum != 0) {
    float momentum = grad;
    if (!sgd.is_first_step) momentum = sgd.momentum * float(momentum_buffers[i]) + sgd.one_minus_dampening * grad;
    momentum_buffers[i] = T(momentum);
    grad = sgd.nesterov ? grad + sgd.momentum * momentum : momentum;
  }
  params[i] = T(param - sgd.common.lr * grad);
}

template <typename T>
kernel void fused_adagrad(
    device T* params [[buffer(0)]],
    device T* grads [[buffer(1)]],
    device T* state_sums [[buffer(2)]],
    const device float* step [[buffer(3)]],
    const device float* scale [[buffer(4)]],
    const device float* found_inf [[buffer(5)]],
    constant Adagrad& adagrad [[buffer(6)]],
    uint i [[thread_position_in_grid]]) {
  if (is_skipped(adagrad.common, found_inf)) return;
  float grad = gradient(grads[i], adagrad.common, scale);
  const float param = float(params[i]);
  grad += adagrad.common.weight_decay * param;
  const float sum = float(state_sums[i]) + grad * grad;
  state_sums[i] = T(sum);
  const float lr = adagrad.common.lr / (1.0f + (*step - 1.0f) * adagrad.lr_decay);
  params[i] = T(param - lr * grad / (precise::sqrt(sum) + adagrad.eps));
}

template <typename T>
kernel void unscale(
    device T* grads [[buffer(0)]],
    device float* found_inf [[buffer(1)]],
    const device float* inverse_scale [[buffer(2)]],
    uint i [[thread_position_in_grid]]) {
  const float grad = float(grads[i]);
  if (!isfinite(grad)) *found_inf = 1.0f;
  grads[i] = T(*inverse_scale == 1.0f ? grad : grad * *inverse_scale);
}

kernel void update_scale(
    device float* scale [[buffer(0)]],
    device int* growth_tracker [[buffer(1)]],
    const device float* found_inf [[buffer(2)]],
    constant float2& growth_and_backoff [[buffer(3)]],
    constant int& growth_interval [[buffer(4)]]) {
  if (*found_inf != 0) {
    *scale *= growth_and_backoff.y;
    *growth_tracker = 0;
    return;
  }
  const int successes = *growth_tracker + 1;
  if (successes == growth_interval) {
    const float grown = *scale * growth_and_backoff.x;
    if (isfinite(grown)) *scale = grown;
  }
  *growth_tracker = successes == growth_interval ? 0 : successes;
}

#define OPTIMIZERS(T)                                                                                                    \
  template [[host_name("fused_adam_" #T)]] kernel void fused_adam<T>(                                                    \
      device T*, device T*, device T*, device T*, device T*, const device float*, const device float*,                   \
      const device float*, constant Adam&, uint);                                                                        \
  template [[host_name("fused_sgd_" #T)]] kernel void fused_sgd<T>(                                                      \
      device T*, device T*, device T*, const device float*, const device float*, constant Sgd&, uint);                   \
  template [[host_name("fused_adagrad_" #T)]] kernel void fused_adagrad<T>(                                              \
      device T*, device T*, device T*, const device float*, const device float*, const device float*, constant Adagrad&, \
      uint);                                                                                                             \
  template [[host_name("unscale_" #T)]] kernel void unscale<T>(device T*, device float*, const device float*, uint);
OPTIMIZERS(float)
OPTIMIZERS(half)
OPTIMIZERS(bfloat)
