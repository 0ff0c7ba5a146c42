// Normalisation of layers, and what it shares with that of groups.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/cpu/mixed_data_type.h>
#include <ATen/native/layer_norm.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_fused_rms_norm_backward_native.h>
#include <ATen/ops/_fused_rms_norm_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/native_layer_norm_backward_native.h>
#include <ATen/ops/native_layer_norm_native.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <limits>
#include <string>

#include <ATen/native/mps/Normalization_metallib.h>

#include "Normalization.h"
#include "Reduction.h"

namespace at::native {
namespace {

using mps::scalarToMetalTypeString;

using mps::normalization::Groups;
using mps::normalization::or_undefined;

constexpr int64_t many_rows = 64;  // so many of a simdgroup each keep the device busy

uint64_t group_size(int64_t threadgroups, int64_t elements) {
  return threadgroups >= many_rows ? 32 : std::clamp<int64_t>((elements / 8 + 31) / 32 * 32, 32, 256);
}

void encode(const std::string& name, const Tensor& data, ScalarType parameters, std::array<Tensor, 6> arguments,
            const Groups& shape, int64_t threadgroups, int64_t elements) {
  if (threadgroups == 0) return;
  const std::string whole =
      name + "_" + scalarToMetalTypeString(data.scalar_type()) + "_" + scalarToMetalTypeString(parameters);
  TORCH_CHECK_NOT_IMPLEMENTED(lib.hasFunction(whole), "\"", name, "_mps\" not implemented for '", data.scalar_type(),
                              "'");
  // What is not there is not used; its slot is filled with something of the parameters' type.
  const Tensor* filler = &data;
  for (const Tensor& argument : arguments) {
    if (argument.defined() && argument.scalar_type() == parameters) filler = &argument;
  }
  const auto kernel = lib.getKernelFunction(whole);
  kernel->runCommandBlock([&] {
    kernel->startEncoding();
    for (unsigned index = 0; index < arguments.size(); ++index) {
      kernel->setArg(index, arguments[index].defined() ? arguments[index] : *filler);
    }
    kernel->setArg(6, shape);
    const uint64_t threads = group_size(threadgroups, elements);
    kernel->dispatch(threadgroups * threads, threads);
  });
}

DimVector sizes_of_statistics(const Tensor& input, size_t normalized) {
  DimVector sizes(input.sizes().begin(), input.sizes().end());
  std::fill(sizes.end() - normalized, sizes.end(), 1);
  return sizes;
}

}  // namespace

namespace mps::normalization {

void forward(const char* name, const Tensor& input, const Tensor& weight, const Tensor& bias, Groups shape,
             double epsilon, const Tensor& output, const Tensor& mean, const Tensor& rstd) {
  shape.epsilon = static_cast<float>(epsilon);
  shape.has_weight = weight.defined();
  shape.has_bias = bias.defined();
  encode(name, input, rstd.scalar_type(),
         {input, weight.defined() ? weight.contiguous() : weight, bias.defined() ? bias.contiguous() : bias, output,
          mean, rstd},
         shape, shape.rows, shape.channels_per_group * shape.inner);
}

void backward(const char* name, const Tensor& gradient, const Tensor& input, const Tensor& mean, const Tensor& rstd,
              const Tensor& weight, Groups shape, const Tensor& result, const Tensor& weight_gradient,
              const Tensor& bias_gradient) {
  const auto parameters = rstd.scalar_type();
  if (result.defined()) {
    shape.has_weight = weight.defined();
    encode(std::string(name) + "_backward", input, parameters,
           {gradient, input, mean, rstd, weight.defined() ? weight.contiguous() : weight, result}, shape, shape.rows,
           shape.channels_per_group * shape.inner);
  }
  if (weight_gradient.defined() || bias_gradient.defined()) {
    shape.has_weight = weight_gradient.defined();
    shape.has_bias = bias_gradient.defined();
    encode(std::string(name) + "_parameters", input, parameters,
           {gradient, input, mean, rstd, weight_gradient, bias_gradient}, shape,
           shape.groups * shape.channels_per_group, shape.rows / shape.groups * shape.inner);
  }
}

}  // namespace mps::normalization

using mps::normalization::backward;
using mps::normalization::forward;

std::tuple<Tensor, Tensor, Tensor> layer_norm_mps(const Tensor& input, IntArrayRef normalized_shape,
                                                  const std::optional<Tensor>& weight_opt,
                                                  const std::optional<Tensor>& bias_opt, double eps) {
  const Tensor weight = or_undefined(weight_opt), bias = or_undefined(bias_opt);
  const bool mixed = is_mixed_type(input, weight, bias);
  if (mixed) check_mixed_data_type(input, weight, bias);
  const auto [rows, columns] = _check_layer_norm_inputs(input, normalized_shape, weight, bias);
  const auto statistics = input.options().dtype(param_scalar_type(input, mixed));
  Tensor output = at::empty(input.sizes(), input.options());
  Tensor mean = at::empty(sizes_of_statistics(input, normalized_shape.size()), statistics), rstd = at::empty_like(mean);
  forward("group_norm", input.contiguous(), weight, bias, {rows, 1, columns, 1}, eps, output, mean, rstd);
  return {output, mean, rstd};
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward_mps(const Tensor& grad_out, const Tensor& input,
                                                           IntArrayRef normalized_shape, const Tensor& mean,
                                                           const Tensor& rstd, const std::optional<Tensor>& weight_opt,
                                                           const std::optional<Tensor>& bias_opt,
                                                           std::array<bool, 3> output_mask) {
  const Tensor weight = or_undefined(weight_opt), bias = or_undefined(bias_opt);
  const auto [rows, columns] = _check_layer_norm_inputs(input, normalized_shape, weight, bias);
  Tensor result, weight_gradient, bias_gradient;
  if (output_mask[0]) result = at::empty(input.sizes(), input.options());
  const auto parameters = [&](const Tensor& like) {
    const auto options = like.defined() ? like.options() : input.options();
    return rows > 0 ? at::empty(normalized_shape, options) : at::zeros(normalized_shape, options);
  };
  if (output_mask[1]) weight_gradient = parameters(weight);
  if (output_mask[2]) bias_gradient = parameters(bias);
  if (rows > 0) {
    backward("group_norm", grad_out.contiguous(), input.contiguous(), mean.contiguous(), rstd.contiguous(), weight,
             {rows, 1, columns, 1}, result, weight_gradient, bias_gradient);
  }
  return {result, weight_gradient, bias_gradient};
}

std::tuple<Tensor, Tensor> _fused_rms_norm_mps(const Tensor& input, IntArrayRef normalized_shape,
                                               const std::optional<Tensor>& weight_opt,
                                               const std::optional<double> eps) {
  const Tensor weight = or_undefined(weight_opt);
  const auto [rows, columns] = _check_layer_norm_inputs(input, normalized_shape, weight, Tensor());
  if (weight.defined() && weight.scalar_type() != input.scalar_type()) {
    const auto [output, rstd] = _fused_rms_norm_mps(input, normalized_shape, std::nullopt, eps);
    return {output.mul(weight), rstd};
  }
  const double epsilon = eps.value_or(input.scalar_type() == kHalf       ? 0.0009765625
                                      : input.scalar_type() == kBFloat16 ? 0.0078125
                                                                         : std::numeric_limits<float>::epsilon());
  Tensor output = at::empty(input.sizes(), input.options());
  Tensor rstd = at::empty(sizes_of_statistics(input, normalized_shape.size()), input.options());
  forward("rms_norm", input.contiguous(), weight, Tensor(), {rows, 1, columns, 1}, epsilon, output, Tensor(), rstd);
  return {output, rstd};
}

std::tuple<Tensor, Tensor> _fused_rms_norm_backward_mps(const Tensor& grad_out, const Tensor& input,
                                                        IntArrayRef normalized_shape, const Tensor& rstd,
                                                        const std::optional<Tensor>& weight_opt,
                                                        std::array<bool, 2> output_mask) {
  const Tensor weight = or_undefined(weight_opt);
  const auto [rows, columns] = _check_layer_norm_inputs(input, normalized_shape, weight, Tensor());
  Tensor result, weight_gradient;
  if (output_mask[0]) result = at::empty(input.sizes(), input.options());
  if (output_mask[1] && weight.defined()) weight_gradient = at::zeros(weight.sizes(), weight.options());
  if (rows > 0) {
    backward("rms_norm", grad_out.contiguous(), input.contiguous(), Tensor(), rstd.contiguous(), weight,
             {rows, 1, columns, 1}, result, weight_gradient, Tensor());
  }
  return {result, weight_gradient};
}

}  // namespace at::native
