// Normalisation of rows by kernels of Normalization.metal.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace at::native::mps::normalization {

// As Normalization.metal has it.
struct Groups {
  int64_t rows, groups, channels_per_group, inner;
  float epsilon = 0;
  int32_t has_weight = 0, has_bias = 0;
};

// Tensors are contiguous, weights and biases may be otherwise; those that are not wanted are undefined.
// `name`: group_norm, or rms_norm, which has no means.
void forward(const char* name, const Tensor& input, const Tensor& weight, const Tensor& bias, Groups shape,
             double epsilon, const Tensor& output, const Tensor& mean, const Tensor& rstd);
void backward(const char* name, const Tensor& gradient, const Tensor& input, const Tensor& mean, const Tensor& rstd,
              const Tensor& weight, Groups shape, const Tensor& result, const Tensor& weight_gradient,
              const Tensor& bias_gradient);

inline Tensor or_undefined(const std::optional<Tensor>& tensor) { return tensor.value_or(Tensor()); }

}  // namespace at::native::mps::normalization
