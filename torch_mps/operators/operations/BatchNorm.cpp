// Normalisation of batches, and gradients.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/cpu/mixed_data_type.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_batch_norm_with_update_native.h>
#include <ATen/ops/_native_batch_norm_legit_native.h>
#include <ATen/ops/batch_norm_backward_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/native_batch_norm_backward_native.h>
#include <ATen/ops/native_batch_norm_native.h>

#include <algorithm>
#include <string>
#include <vector>

#include <ATen/native/mps/BatchNorm_metallib.h>

#include "Normalization.h"
#include "Reduction.h"

namespace at::native {
namespace {

using mps::scalarToMetalTypeString;
using mps::normalization::or_undefined;

// As BatchNorm.metal has it.
struct Batch {
  int64_t samples = 1, channels = 1, inner = 1;
  float epsilon = 0, momentum = 0;
  int32_t training = 0, has_weight = 0, has_bias = 0, has_running_mean = 0, has_running_variance = 0;
  int32_t has_input_gradient = 0, has_weight_gradient = 0, has_bias_gradient = 0;
};

Batch batch_of(const Tensor& input, bool training, double epsilon) {
  TORCH_CHECK(input.dim() >= 2, "batch_norm: input must have at least 2 dimensions, but got ", input.dim());
  Batch batch;
  batch.samples = input.size(0);
  batch.channels = input.size(1);
  for (int64_t dimension = 2; dimension < input.dim(); ++dimension) batch.inner *= input.size(dimension);
  batch.training = training;
  batch.epsilon = static_cast<float>(epsilon);
  return batch;
}

Tensor made_contiguous(const Tensor& tensor) { return tensor.defined() ? tensor.contiguous() : tensor; }

constexpr int64_t shared_inner = 128;  // from so many elements of a channel on a simdgroup has it

enum class Threads { channels, elements, rows };

// One threadgroup per channel, one thread per element, or one simdgroup per channel of each sample.
void encode(const char* name, const Tensor& data, ScalarType parameters, const std::vector<Tensor>& arguments,
            const Batch& batch, Threads shared = Threads::channels) {
  const std::string whole =
      std::string(name) + "_" + scalarToMetalTypeString(data.scalar_type()) + "_" + scalarToMetalTypeString(parameters);
  TORCH_CHECK_NOT_IMPLEMENTED(lib.hasFunction(whole), "\"batch_norm_mps\" not implemented for '", data.scalar_type(),
                              "'");
  // What is not there is not used; its slot is filled with something of the parameters' type.
  const Tensor* filler = &data;
  for (const Tensor& argument : arguments) {
    if (argument.defined() && argument.numel() > 0 && argument.scalar_type() == parameters) filler = &argument;
  }
  const auto kernel = lib.getKernelFunction(whole);
  kernel->runCommandBlock([&] {
    kernel->startEncoding();
    unsigned index = 0;
    for (const Tensor& argument : arguments) {
      kernel->setArg(index++, argument.defined() && argument.numel() > 0 ? argument : *filler);
    }
    kernel->setArg(index, batch);
    const int64_t count = batch.samples * batch.inner;
    const uint64_t threads = std::clamp<int64_t>((count / 8 + 31) / 32 * 32, 32, 256);
    if (shared == Threads::elements) {
      kernel->dispatch(data.numel());
    } else if (shared == Threads::rows) {
      kernel->dispatch(batch.samples * batch.channels * 32, 32);
    } else {
      kernel->dispatch(batch.channels * threads, threads);
    }
  });
}

ScalarType parameter_type(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                          const Tensor& running_var) {
  const bool mixed = is_mixed_type(input, weight, bias, running_mean, running_var);
  if (mixed) check_mixed_data_type(input, weight, bias, running_mean, running_var);
  return mixed ? kFloat : input.scalar_type();
}

// A tensor that a kernel changes: itself, or a contiguous copy that is copied back.
struct Changed {
  Tensor original, used;
  explicit Changed(const Tensor& tensor) : original(tensor), used(made_contiguous(tensor)) {}
  void copy_back() const {
    if (original.defined() && !used.is_same(original)) original.copy_(used);
  }
};

void forward(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
             const Tensor& running_var, bool training, double momentum, double epsilon, const Tensor& output,
             const Tensor& save_mean, const Tensor& save_invstd) {
  if (input.numel() == 0) return;
  Batch batch = batch_of(input, training, epsilon);
  const ScalarType parameters = parameter_type(input, weight, bias, running_mean, running_var);
  const Tensor from = input.contiguous(),
               to = output.is_contiguous() ? output : at::empty(output.sizes(), output.options());
  batch.momentum = static_cast<float>(momentum);
  batch.has_weight = weight.defined();
  batch.has_bias = bias.defined();
  Tensor mean = made_contiguous(running_mean), deviation = made_contiguous(running_var);
  if (training) {
    const Changed changed_mean(running_mean), changed_var(running_var);
    batch.has_running_mean = running_mean.defined();
    batch.has_running_variance = running_var.defined();
    encode("batch_statistics", from, parameters, {from, save_mean, save_invstd, changed_mean.used, changed_var.used},
           batch);
    changed_mean.copy_back();
    changed_var.copy_back();
    mean = save_mean;
    deviation = save_invstd;
  }
  const bool rows = batch.inner >= shared_inner;
  encode(rows ? "batch_transform_rows" : "batch_transform", from, parameters,
         {from, mean, deviation, made_contiguous(weight), made_contiguous(bias), to}, batch,
         rows ? Threads::rows : Threads::elements);
  if (!to.is_same(output)) output.copy_(to);
}

using Three = std::tuple<Tensor, Tensor, Tensor>;

Three forward(const Tensor& input, const std::optional<Tensor>& weight_opt, const std::optional<Tensor>& bias_opt,
              const Tensor& running_mean, const Tensor& running_var, bool training, double momentum, double epsilon) {
  const Tensor weight = or_undefined(weight_opt), bias = or_undefined(bias_opt);
  const auto options = input.options().dtype(parameter_type(input, weight, bias, running_mean, running_var));
  const int64_t saved = training ? input.size(1) : 0;
  Tensor output = at::empty_like(input, input.suggest_memory_format());
  Tensor mean = at::empty({saved}, options), invstd = at::empty({saved}, options);
  forward(input, weight, bias, running_mean, running_var, training, momentum, epsilon, output, mean, invstd);
  return {output, mean, invstd};
}

std::tuple<Tensor&, Tensor&, Tensor&> forward_out(const Tensor& input, const std::optional<Tensor>& weight,
                                                  const std::optional<Tensor>& bias, const Tensor& running_mean,
                                                  const Tensor& running_var, bool training, double momentum,
                                                  double epsilon, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  const auto [output, mean, invstd] =
      forward(input, weight, bias, running_mean, running_var, training, momentum, epsilon);
  for (auto [to, from] : {std::pair(&out, &output), {&save_mean, &mean}, {&save_invstd, &invstd}}) {
    at::native::resize_output(*to, from->sizes());
    to->copy_(*from);
  }
  return {out, save_mean, save_invstd};
}

}  // namespace

Three batch_norm_mps(const Tensor& self, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                     const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training,
                     double momentum, double eps) {
  return forward(self, weight, bias, or_undefined(running_mean), or_undefined(running_var), training, momentum, eps);
}

std::tuple<Tensor&, Tensor&, Tensor&> batch_norm_mps_out(const Tensor& self, const std::optional<Tensor>& weight,
                                                         const std::optional<Tensor>& bias,
                                                         const std::optional<Tensor>& running_mean,
                                                         const std::optional<Tensor>& running_var, bool training,
                                                         double momentum, double eps, Tensor& out, Tensor& save_mean,
                                                         Tensor& save_invstd) {
  return forward_out(self, weight, bias, or_undefined(running_mean), or_undefined(running_var), training, momentum, eps,
                     out, save_mean, save_invstd);
}

Three _batch_norm_legit_mps(const Tensor& self, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                            Tensor& running_mean, Tensor& running_var, bool training, double momentum, double eps) {
  return forward(self, weight, bias, running_mean, running_var, training, momentum, eps);
}

std::tuple<Tensor&, Tensor&, Tensor&> _batch_norm_legit_mps_out(const Tensor& self, const std::optional<Tensor>& weight,
                                                                const std::optional<Tensor>& bias, Tensor& running_mean,
                                                                Tensor& running_var, bool training, double momentum,
                                                                double eps, Tensor& out, Tensor& save_mean,
                                                                Tensor& save_invstd) {
  return forward_out(self, weight, bias, running_mean, running_var, training, momentum, eps, out, save_mean,
                     save_invstd);
}

Three _batch_norm_legit_no_stats_mps(const Tensor& self, const std::optional<Tensor>& weight,
                                     const std::optional<Tensor>& bias, bool training, double momentum, double eps) {
  return forward(self, weight, bias, Tensor(), Tensor(), training, momentum, eps);
}

std::tuple<Tensor&, Tensor&, Tensor&> _batch_norm_legit_no_stats_mps_out(
    const Tensor& self, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, bool training,
    double momentum, double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  return forward_out(self, weight, bias, Tensor(), Tensor(), training, momentum, eps, out, save_mean, save_invstd);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> _batch_norm_with_update_mps(const Tensor& input,
                                                                       const std::optional<Tensor>& weight,
                                                                       const std::optional<Tensor>& bias,
                                                                       Tensor& running_mean, Tensor& running_var,
                                                                       double momentum, double eps) {
  auto [output, mean, invstd] = forward(input, weight, bias, running_mean, running_var, true, momentum, eps);
  return {output, mean, invstd, at::empty({0}, input.options().dtype(kByte))};
}

Three batch_norm_backward_mps(const Tensor& grad_out, const Tensor& input, const std::optional<Tensor>& weight_opt,
                              const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
                              const std::optional<Tensor>& save_mean, const std::optional<Tensor>& save_invstd,
                              bool train, double eps, std::array<bool, 3> output_mask) {
  const Tensor weight = or_undefined(weight_opt);
  Batch batch = batch_of(input, train, eps);
  const ScalarType parameters =
      parameter_type(input, weight, Tensor(), or_undefined(running_mean), or_undefined(running_var));
  batch.has_weight = weight.defined();
  Tensor result, weight_gradient, bias_gradient;
  const auto options = input.options().dtype(parameters);
  if (output_mask[0]) result = at::empty_like(input, input.suggest_memory_format());
  if (output_mask[1]) weight_gradient = at::empty({batch.channels}, options);
  if (output_mask[2]) bias_gradient = at::empty({batch.channels}, options);
  if (input.numel() == 0) {
    for (const Tensor& parameter : {weight_gradient, bias_gradient}) {
      if (parameter.defined()) parameter.zero_();
    }
    return {result, weight_gradient, bias_gradient};
  }
  batch.has_input_gradient = output_mask[0];
  batch.has_weight_gradient = output_mask[1];
  batch.has_bias_gradient = output_mask[2];
  const Tensor from = input.contiguous();
  const bool is_direct = !result.defined() || result.is_contiguous();
  const Tensor to = is_direct ? result : at::empty(result.sizes(), result.options());
  const Tensor mean = or_undefined(train ? save_mean : running_mean);
  const Tensor deviation = or_undefined(train ? save_invstd : running_var);
  encode("batch_backward", from, parameters,
         {grad_out.contiguous(), from, made_contiguous(mean), made_contiguous(deviation), made_contiguous(weight), to,
          weight_gradient, bias_gradient},
         batch);
  if (!is_direct) result.copy_(to);
  return {result, weight_gradient, bias_gradient};
}

Three _new_batch_norm_backward_mps(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                                   const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
                                   const std::optional<Tensor>& save_mean, const std::optional<Tensor>& save_var,
                                   bool update, double eps, std::array<bool, 3> output_mask, const Tensor&) {
  return batch_norm_backward_mps(grad_output, input, weight, running_mean, running_var, save_mean, save_var, update,
                                 eps, output_mask);
}

}  // namespace at::native
