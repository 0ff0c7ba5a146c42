// Losses of elements, and their gradients.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/TensorIterator.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/PointwiseOps.h>
#include <ATen/native/Resize.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/binary_cross_entropy_backward_native.h>
#include <ATen/ops/binary_cross_entropy_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/sum.h>

#include <array>
#include <string>

#include <ATen/native/mps/Loss_metallib.h>

#include "Reduction.h"

namespace at::native {
namespace {

using mps::scalarToMetalTypeString;

// As Loss.metal has it.
struct Elements {
  static constexpr int max_dimensions = 16;
  int32_t dimensions = 0;
  float first = 0, second = 0;
  std::array<int64_t, max_dimensions> sizes{};
  std::array<std::array<int64_t, max_dimensions>, 4> strides{};
};

void run_kernel(TensorIteratorBase& iter, const char* name, double first, double second) {
  if (iter.numel() == 0) return;
  Elements elements;
  elements.dimensions = iter.ndim();
  elements.first = static_cast<float>(first);
  elements.second = static_cast<float>(second);
  TORCH_CHECK(iter.ndim() <= Elements::max_dimensions, "Losses of more than ", Elements::max_dimensions,
              " dimensions are not supported on MPS");
  for (int dimension = 0; dimension < iter.ndim(); ++dimension) {
    elements.sizes[dimension] = iter.shape()[dimension];
    for (int operand = 0; operand < iter.ntensors(); ++operand) {
      elements.strides[operand][dimension] =
          iter.strides(operand)[dimension] / static_cast<int64_t>(iter.element_size(operand));
    }
  }
  const ScalarType type = iter.dtype(0);
  const std::string kernel_name =
      std::string(name) + (iter.ninputs() == 3 ? "_backward_" : "_") + scalarToMetalTypeString(type);
  TORCH_CHECK_NOT_IMPLEMENTED(lib.hasFunction(kernel_name), "\"", name, "_mps\" not implemented for '", type, "'");
  const auto kernel = lib.getKernelFunction(kernel_name);
  kernel->runCommandBlock([&] {
    kernel->startEncoding();
    for (int operand = 0; operand < iter.ntensors(); ++operand) kernel->setArg(operand, iter.tensor_base(operand));
    kernel->setArg(4, elements);
    kernel->dispatch(iter.numel());
  });
}

// Kernels have one type: operands of others and numbers on the CPU are converted.
void run_loss(TensorIteratorBase& iter, const char* name, double first = 0, double second = 0) {
  const ScalarType type = iter.common_dtype();
  bool fits = true;
  for (int operand = 0; operand < iter.ntensors(); ++operand) {
    fits = fits && iter.dtype(operand) == type && !iter.is_cpu_scalar(operand);
  }
  if (fits) return run_kernel(iter, name, first, second);
  const Tensor output = iter.tensor(0);
  const Tensor made = output.scalar_type() == type ? output : at::empty(output.sizes(), output.options().dtype(type));
  TensorIteratorConfig config;
  config.set_check_mem_overlap(false).resize_outputs(false).add_output(made);
  for (int operand = 1; operand < iter.ntensors(); ++operand) {
    config.add_owned_const_input(iter.tensor(operand).to(output.device(), type));
  }
  TensorIterator converted = config.build();
  run_kernel(converted, name, first, second);
  if (!made.is_same(output)) output.copy_(made);
}

void mse(TensorIteratorBase& iter) { run_loss(iter, "mse_loss"); }
void mse_backward(TensorIterator& iter, const Scalar& norm) { run_loss(iter, "mse_loss", norm.toDouble()); }
void smooth_l1(TensorIteratorBase& iter, double beta) { run_loss(iter, "smooth_l1_loss", beta); }
void smooth_l1_backward(TensorIterator& iter, const Scalar& norm, double beta) {
  run_loss(iter, "smooth_l1_loss", norm.toDouble(), beta);
}
void huber(TensorIterator& iter, double delta) { run_loss(iter, "huber_loss", delta); }
void huber_backward(TensorIterator& iter, const Scalar& norm, double delta) {
  run_loss(iter, "huber_loss", norm.toDouble(), delta);
}

}  // namespace

REGISTER_MPS_DISPATCH(mse_stub, &mse)
REGISTER_MPS_DISPATCH(mse_backward_stub, &mse_backward)
REGISTER_MPS_DISPATCH(smooth_l1_stub, &smooth_l1)
REGISTER_MPS_DISPATCH(smooth_l1_backward_stub, &smooth_l1_backward)
REGISTER_MPS_DISPATCH(huber_stub, &huber)
REGISTER_MPS_DISPATCH(huber_backward_stub, &huber_backward)

Tensor& binary_cross_entropy_out_mps(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                                     int64_t reduction, Tensor& loss) {
  const bool has_weight = weight.has_value() && weight->defined();
  Tensor each = reduction == Reduction::None ? loss : at::empty({0}, input.options());
  if (reduction == Reduction::None) {
    at::native::resize_output(each, target.sizes());
  } else {
    each.resize_(target.sizes());
  }
  auto iter = TensorIteratorConfig()
                  .set_check_mem_overlap(true)
                  .add_output(each)
                  .add_const_input(input)
                  .add_const_input(target)
                  .build();
  run_loss(iter, "binary_cross_entropy");
  if (has_weight) each.mul_(*weight);
  if (reduction != Reduction::None) {
    const Tensor result = reduction == Reduction::Mean ? at::mean(each) : at::sum(each);
    at::native::resize_output(loss, {});
    loss.copy_(result);
  }
  return loss;
}

Tensor binary_cross_entropy_mps(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                                int64_t reduction) {
  Tensor loss = at::empty({0}, input.options());
  return binary_cross_entropy_out_mps(input, target, weight, reduction, loss);
}

Tensor& binary_cross_entropy_backward_out_mps(const Tensor& grad, const Tensor& input, const Tensor& target,
                                              const std::optional<Tensor>& weight, int64_t reduction,
                                              Tensor& grad_input) {
  at::native::resize_output(grad_input, input.sizes());
  auto iter = TensorIteratorConfig()
                  .resize_outputs(false)
                  .add_output(grad_input)
                  .add_const_input(input)
                  .add_const_input(target)
                  .add_const_input(grad)
                  .build();
  run_loss(iter, "binary_cross_entropy");
  if (weight.has_value() && weight->defined()) grad_input.mul_(*weight);
  if (reduction == Reduction::Mean) grad_input.div_(input.numel());
  return grad_input;
}

Tensor binary_cross_entropy_backward_mps(const Tensor& grad, const Tensor& input, const Tensor& target,
                                         const std::optional<Tensor>& weight, int64_t reduction) {
  Tensor grad_input = at::empty({0}, input.options());
  return binary_cross_entropy_backward_out_mps(grad, input, target, weight, reduction, grad_input);
}

}  // namespace at::native
