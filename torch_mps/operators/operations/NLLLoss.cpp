// The negative log likelihood of classes, and its gradient.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/nll_loss2d_backward_native.h>
#include <ATen/ops/nll_loss2d_forward_native.h>
#include <ATen/ops/nll_loss_backward_native.h>
#include <ATen/ops/nll_loss_forward_native.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <string>

#include <ATen/native/mps/NLLLoss_metallib.h>

#include "Reduction.h"

namespace at::native {
namespace {

using mps::scalarToMetalTypeString;

// As NLLLoss.metal has it.
struct Classes {
  int64_t count = 1, classes = 1, inner = 1, ignored = 0;
  int32_t has_weight = 0, mean = 0, single_gradient = 0;
};

Classes classes_of(const Tensor& input, const Tensor& weight, int64_t reduction, int64_t ignore_index) {
  Classes shape;
  shape.classes = input.size(input.dim() == 1 ? 0 : 1);
  for (int64_t dimension = 2; dimension < input.dim(); ++dimension) shape.inner *= input.size(dimension);
  shape.count = (input.dim() == 1 ? 1 : input.size(0)) * shape.inner;
  shape.ignored = ignore_index;
  shape.has_weight = weight.defined();
  shape.mean = reduction == Reduction::Mean;
  return shape;
}

// Slots of what is not there or empty, and so not used, are filled with the output.
void encode(const char* name, const Tensor& data, const Tensor& targets, const Tensor& weight, const Tensor& output,
            const Tensor& total_weight, const Classes& shape, bool together) {
  const std::string whole = std::string(name) + "_" + scalarToMetalTypeString(data.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(lib.hasFunction(whole), "\"nll_loss_mps\" not implemented for '", data.scalar_type(),
                              "'");
  const auto kernel = lib.getKernelFunction(whole);
  kernel->runCommandBlock([&] {
    kernel->startEncoding();
    kernel->setArg(0, data.numel() > 0 ? data : output);
    kernel->setArg(1, targets);
    kernel->setArg(2, weight.defined() ? weight : output);
    kernel->setArg(3, output);
    kernel->setArg(4, shape);
    kernel->setErrorBufferIndex(5);
    kernel->setArg(6, total_weight.defined() ? total_weight : output);
    if (together) {
      const uint64_t threads = std::clamp<int64_t>((shape.count / 8 + 31) / 32 * 32, 32, 1024);
      kernel->dispatch(threads, threads);
    } else {
      kernel->dispatch(shape.count);
    }
  });
}

// Empty ones have no memory, and a kernel wants some.
Tensor targets_of(const Tensor& target) {
  return target.numel() > 0 ? target.to(kLong).contiguous() : at::empty({1}, target.options().dtype(kLong));
}

void forward(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index,
             const Tensor& output, const Tensor& total_weight) {
  const Classes shape = classes_of(input, weight, reduction, ignore_index);
  const Tensor from = input.contiguous(), targets = targets_of(target);
  const Tensor weights = weight.defined() ? weight.contiguous() : weight;
  const bool of_each = reduction == Reduction::None && input.dim() > 1;
  const Tensor to = output.is_contiguous() ? output : at::empty(output.sizes(), output.options());
  if (of_each) {
    total_weight.zero_();
    if (shape.count > 0) encode("nll_loss_of_each", from, targets, weights, to, {}, shape, false);
  } else {
    encode("nll_loss_of_all", from, targets, weights, to, total_weight, shape, true);
  }
  if (!to.is_same(output)) output.copy_(to);
}

void backward(const Tensor& gradient, const Tensor& input, const Tensor& target, const Tensor& weight,
              int64_t reduction, int64_t ignore_index, const Tensor& total_weight, const Tensor& grad_input) {
  Classes shape = classes_of(input, weight, reduction, ignore_index);
  shape.single_gradient = reduction != Reduction::None;
  grad_input.zero_();
  if (shape.count == 0) return;
  const Tensor to = grad_input.is_contiguous() ? grad_input : at::zeros(grad_input.sizes(), grad_input.options());
  encode("nll_loss_backward", gradient.contiguous(), targets_of(target),
         weight.defined() ? weight.contiguous() : weight, to, total_weight, shape, false);
  if (!to.is_same(grad_input)) grad_input.copy_(to);
}

Tensor or_undefined(const OptionalTensorRef& tensor) { return tensor.has_value() ? *tensor : Tensor(); }

void check_shapes_of_2d(const Tensor& input, const Tensor& target, const Tensor& weight) {
  TORCH_CHECK(target.dim() == 3,
              "only batches of spatial targets supported (3D tensors) but got targets of dimension: ", target.dim());
  TORCH_CHECK(input.dim() == 4,
              "only batches of spatial inputs supported (4D tensors), but got input of dimension: ", input.dim());
  TORCH_CHECK(!weight.defined() || weight.numel() == input.size(1),
              "weight tensor should be defined either for all or no classes");
  TORCH_CHECK(input.size(0) == target.size(0) && input.size(2) == target.size(1) && input.size(3) == target.size(2),
              "size mismatch (got input: ", input.sizes(), " , target: ", target.sizes());
}

}  // namespace

TORCH_IMPL_FUNC(nll_loss_forward_out_mps)
(const Tensor& self, const Tensor& target, const OptionalTensorRef weight_opt, int64_t reduction, int64_t ignore_index,
 const Tensor& output, const Tensor& total_weight) {
  forward(self, target, or_undefined(weight_opt), reduction, ignore_index, output, total_weight);
}

TORCH_IMPL_FUNC(nll_loss_backward_out_mps)
(const Tensor& grad_output, const Tensor& self, const Tensor& target, OptionalTensorRef weight_opt, int64_t reduction,
 int64_t ignore_index, const Tensor& total_weight, const Tensor& grad_input) {
  backward(grad_output, self, target, or_undefined(weight_opt), reduction, ignore_index, total_weight, grad_input);
}

std::tuple<Tensor&, Tensor&> nll_loss2d_forward_out_mps(const Tensor& self, const Tensor& target,
                                                        const std::optional<Tensor>& weight_opt, int64_t reduction,
                                                        int64_t ignore_index, Tensor& output, Tensor& total_weight) {
  const Tensor weight = weight_opt.value_or(Tensor());
  check_shapes_of_2d(self, target, weight);
  at::native::resize_output(output, reduction == Reduction::None ? target.sizes() : IntArrayRef());
  at::native::resize_output(total_weight, {});
  forward(self, target, weight, reduction, ignore_index, output, total_weight);
  return {output, total_weight};
}

std::tuple<Tensor, Tensor> nll_loss2d_forward_mps(const Tensor& self, const Tensor& target,
                                                  const std::optional<Tensor>& weight, int64_t reduction,
                                                  int64_t ignore_index) {
  Tensor output = at::empty({0}, self.options()), total_weight = at::empty({}, self.options());
  nll_loss2d_forward_out_mps(self, target, weight, reduction, ignore_index, output, total_weight);
  return {output, total_weight};
}

Tensor& nll_loss2d_backward_out_mps(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                    const std::optional<Tensor>& weight_opt, int64_t reduction, int64_t ignore_index,
                                    const Tensor& total_weight, Tensor& grad_input) {
  const Tensor weight = weight_opt.value_or(Tensor());
  check_shapes_of_2d(self, target, weight);
  at::native::resize_output(grad_input, self.sizes());
  backward(grad_output, self, target, weight, reduction, ignore_index, total_weight, grad_input);
  return grad_input;
}

Tensor nll_loss2d_backward_mps(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                               const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
                               const Tensor& total_weight) {
  Tensor grad_input = at::empty({0}, self.options());
  return nll_loss2d_backward_out_mps(grad_output, self, target, weight, reduction, ignore_index, total_weight,
                                     grad_input);
}

}  // namespace at::native
