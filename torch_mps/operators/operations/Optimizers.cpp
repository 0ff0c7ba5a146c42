// _fused_adam_, _fused_adamw_, _fused_sgd_, _fused_adagrad_, and _amp_… for scaled gradients.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale_native.h>
#include <ATen/ops/_amp_update_scale_native.h>
#include <ATen/ops/_fused_adagrad_native.h>
#include <ATen/ops/_fused_adam_native.h>
#include <ATen/ops/_fused_adamw_native.h>
#include <ATen/ops/_fused_sgd_native.h>
#include <ATen/ops/empty.h>

#include <cmath>

#include <ATen/native/mps/Optimizers_metallib.h>

namespace at::native {
namespace mps {

#ifndef PYTORCH_JIT_COMPILE_SHADERS
static auto& lib = MetalShaderLibrary::getBundledLibrary();
#else
#endif

std::string scalarToMetalTypeString(const c10::ScalarType& scalar_type);

namespace {

using OptionalTensor = std::optional<Tensor>;

// As in Optimizers.metal.
struct Common {
  float lr, weight_decay;
  bool maximize, has_scale, has_found_inf;
};
struct Adam {
  Common common;
  float beta1, beta2, one_minus_beta1, one_minus_beta2, log_beta1, log_beta2, eps;
  bool amsgrad, decouples_weight_decay;
};
struct Sgd {
  Common common;
  float momentum, one_minus_dampening;
  bool nesterov, is_first_step;
};
struct Adagrad {
  Common common;
  float lr_decay, eps;
};

bool is_given(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

Common common_of(double lr, double weight_decay, bool maximize, const OptionalTensor& scale,
                 const OptionalTensor& found_inf) {
  return {static_cast<float>(lr), static_cast<float>(weight_decay), maximize, is_given(scale), is_given(found_inf)};
}

// Runs a kernel over the elements of tensors of one type, which it changes. Those that do not lie alike in memory
// become dense for the kernel.
template <typename Set>
void over_elements(const char* kernel, c10::SmallVector<Tensor, 5> tensors, Set set) {
  const Tensor& first = tensors[0];
  if (first.numel() == 0) return;
  bool alike = first.is_non_overlapping_and_dense();
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.scalar_type() == first.scalar_type() && tensor.sizes() == first.sizes(), kernel,
                ": params, grads and states must have the same dtype and shape");
    alike = alike && tensor.strides() == first.strides();
  }
  c10::SmallVector<Tensor, 5> dense = tensors;
  if (!alike) {
    for (Tensor& tensor : dense) tensor = tensor.contiguous();
  }
  auto function = lib.getKernelFunction(std::string(kernel) + "_" + scalarToMetalTypeString(first.scalar_type()));
  function->runCommandBlock([&] {
    function->startEncoding();
    for (unsigned i = 0; i < dense.size(); ++i) function->setArg(i, dense[i]);
    set(*function);
    function->dispatch(static_cast<uint64_t>(first.numel()));
  });
  for (size_t i = 0; i < dense.size(); ++i) {
    if (!dense[i].is_same(tensors[i])) tensors[i].copy_(dense[i]);
  }
}

void adam(TensorList params, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs,
          TensorList steps, double lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad,
          bool maximize, const OptionalTensor& scale, const OptionalTensor& found_inf, bool decouples) {
  const auto number = [](double value) { return static_cast<float>(value); };
  const Adam options = {common_of(lr, weight_decay, maximize, scale, found_inf),
                        number(beta1),
                        number(beta2),
                        number(1 - beta1),
                        number(1 - beta2),
                        number(std::log(beta1)),
                        number(std::log(beta2)),
                        number(eps),
                        amsgrad,
                        decouples};
  for (size_t i = 0; i < params.size(); ++i) {
    const Tensor& largest = amsgrad ? max_exp_avg_sqs[i] : exp_avg_sqs[i];
    const Tensor step = steps[i].to(kFloat);
    over_elements("fused_adam", {params[i], grads[i], exp_avgs[i], exp_avg_sqs[i], largest},
                  [&](MetalKernelFunction& function) {
                    function.setArg(5, step);
                    function.setArg(6, is_given(scale) ? *scale : step);
                    function.setArg(7, is_given(found_inf) ? *found_inf : step);
                    function.setArg(8, options);
                  });
  }
}

}  // namespace
}  // namespace mps

using namespace mps;

#define ADAM(NAME, DECOUPLES)                                                                                      \
  void NAME(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,                        \
            TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,             \
            double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale, \
            const std::optional<Tensor>& found_inf) {                                                              \
    adam(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, weight_decay, eps,    \
         amsgrad, maximize, grad_scale, found_inf, DECOUPLES);                                                     \
  }                                                                                                                \
  void NAME(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,                        \
            TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1, double beta2,      \
            double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale, \
            const std::optional<Tensor>& found_inf) {                                                              \
    adam(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr.item<double>(), beta1, beta2,        \
         weight_decay, eps, amsgrad, maximize, grad_scale, found_inf, DECOUPLES);                                  \
  }
ADAM(_fused_adam_kernel_mps_, false)
ADAM(_fused_adamw_kernel_mps_, true)

void _fused_sgd_kernel_mps_(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay,
                            double momentum, double lr, double dampening, bool nesterov, bool maximize,
                            bool is_first_step, const std::optional<Tensor>& grad_scale,
                            const std::optional<Tensor>& found_inf) {
  const Sgd options = {common_of(lr, weight_decay, maximize, grad_scale, found_inf), static_cast<float>(momentum),
                       static_cast<float>(1 - dampening), nesterov, is_first_step};
  if (self.empty()) return;
  const Tensor none = at::empty({1}, self[0].options().dtype(kFloat));
  for (size_t i = 0; i < self.size(); ++i) {
    const Tensor& buffer = momentum_buffer_list.empty() ? grads[i] : momentum_buffer_list[i];
    over_elements("fused_sgd", {self[i], grads[i], buffer}, [&](MetalKernelFunction& function) {
      function.setArg(3, is_given(grad_scale) ? *grad_scale : none);
      function.setArg(4, is_given(found_inf) ? *found_inf : none);
      function.setArg(5, options);
    });
  }
}

void _fused_sgd_kernel_mps_(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay,
                            double momentum, const Tensor& lr, double dampening, bool nesterov, bool maximize,
                            bool is_first_step, const std::optional<Tensor>& grad_scale,
                            const std::optional<Tensor>& found_inf) {
  _fused_sgd_kernel_mps_(self, grads, momentum_buffer_list, weight_decay, momentum, lr.item<double>(), dampening,
                         nesterov, maximize, is_first_step, grad_scale, found_inf);
}

void _fused_adagrad_kernel_mps_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps,
                                double lr, double lr_decay, double weight_decay, double eps, bool maximize,
                                const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  const Adagrad options = {common_of(lr, weight_decay, maximize, grad_scale, found_inf), static_cast<float>(lr_decay),
                           static_cast<float>(eps)};
  for (size_t i = 0; i < self.size(); ++i) {
    const Tensor step = state_steps[i].to(self[i].device(), kFloat);
    over_elements("fused_adagrad", {self[i], grads[i], state_sums[i]}, [&](MetalKernelFunction& function) {
      function.setArg(3, step);
      function.setArg(4, is_given(grad_scale) ? *grad_scale : step);
      function.setArg(5, is_given(found_inf) ? *found_inf : step);
      function.setArg(6, options);
    });
  }
}

void _fused_adagrad_kernel_mps_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps,
                                const Tensor& lr, double lr_decay, double weight_decay, double eps, bool maximize,
                                const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  _fused_adagrad_kernel_mps_(self, grads, state_sums, state_steps, lr.item<double>(), lr_decay, weight_decay, eps,
                             maximize, grad_scale, found_inf);
}

void _amp_foreach_non_finite_check_and_unscale_mps_(TensorList self, Tensor& found_inf, const Tensor& inv_scale) {
  if (self.empty()) return;
  TORCH_CHECK(inv_scale.is_mps(), "inv_scale must be an MPS tensor.");
  TORCH_CHECK(found_inf.is_mps(), "found_inf must be an MPS tensor.");
  TORCH_CHECK(inv_scale.numel() == 1, "inv_scale must be a 1-element tensor.");
  TORCH_CHECK(found_inf.numel() == 1, "found_inf must be a 1-element tensor.");
  TORCH_CHECK(inv_scale.scalar_type() == kFloat, "inv_scale must be a float tensor.");
  TORCH_CHECK(found_inf.scalar_type() == kFloat, "found_inf must be a float tensor.");
  for (const Tensor& grad : self) {
    TORCH_CHECK(grad.is_mps(), "scaled_grads must be MPS tensors.");
    over_elements("unscale", {grad}, [&](MetalKernelFunction& function) {
      function.setArg(1, found_inf);
      function.setArg(2, inv_scale);
    });
  }
}

Tensor& _amp_update_scale_mps_(Tensor& self, Tensor& growth_tracker, const Tensor& found_inf,
                               double scale_growth_factor, double scale_backoff_factor, int64_t growth_interval) {
  TORCH_CHECK(growth_tracker.is_mps(), "growth_tracker must be an MPS tensor.");
  TORCH_CHECK(self.is_mps(), "current_scale must be an MPS tensor.");
  TORCH_CHECK(found_inf.is_mps(), "found_inf must be an MPS tensor.");
  TORCH_CHECK(growth_tracker.numel() == 1, "growth_tracker must be a 1-element tensor.");
  TORCH_CHECK(self.numel() == 1, "current_scale must be a 1-element tensor.");
  TORCH_CHECK(found_inf.numel() == 1, "found_inf must be a 1-element tensor.");
  TORCH_CHECK(growth_tracker.scalar_type() == kInt, "growth_tracker must be an int tensor.");
  TORCH_CHECK(self.scalar_type() == kFloat, "current_scale must be a float tensor.");
  TORCH_CHECK(found_inf.scalar_type() == kFloat, "found_inf must be a float tensor.");
  auto function = lib.getKernelFunction("update_scale");
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, self);
    function->setArg(1, growth_tracker);
    function->setArg(2, found_inf);
    function->setArg(
        3, std::array<float, 2>{static_cast<float>(scale_growth_factor), static_cast<float>(scale_backoff_factor)});
    function->setArg(4, static_cast<int32_t>(growth_interval));
    function->dispatch(1);
  });
  return self;
}

}  // namespace at::native
