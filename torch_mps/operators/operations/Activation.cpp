// Activation functions and their derivatives.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/Activation.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/native/mps/kernels/Activation.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu_backward_native.h>
#include <ATen/ops/gelu_native.h>
#include <ATen/ops/log_sigmoid_backward_native.h>
#include <ATen/ops/log_sigmoid_forward_native.h>

#include <vector>

#include <ATen/native/mps/Activation_metallib.h>

#include "Elementwise.h"

namespace at::native {
namespace {

using mps::elementwise::run_with;

// As the kernel's structs of the same names.
struct ThresholdParams {
  float threshold, value;
};
struct ThresholdIntegerParams {
  int64_t threshold, value;
};

void gelu(TensorIteratorBase& iter, GeluType form) {
  lib.exec_unary_kernel(iter, form == GeluType::Tanh ? "gelu_tanh" : "gelu_none");
}
void gelu_backward(TensorIteratorBase& iter, GeluType form) {
  lib.exec_binary_kernel(iter, form == GeluType::Tanh ? "gelu_tanh_backward" : "gelu_none_backward");
}

template <const char* name, typename Iterator = TensorIteratorBase>
void unary(Iterator& iter) {
  lib.exec_unary_kernel(iter, name);
}
template <const char* name, typename Iterator = TensorIteratorBase>
void binary(Iterator& iter) {
  lib.exec_binary_kernel(iter, name);
}
template <const char* name>
void with_number(TensorIteratorBase& iter, const Scalar& number) {
  run_with(lib, iter, name, number.to<float>(), "float");
}

constexpr char silu_name[] = "silu", silu_backward_name[] = "silu_backward", mish_name[] = "mish",
               mish_backward_name[] = "mish_backward", hardswish_name[] = "hardswish",
               hardswish_backward_name[] = "hardswish_backward", hardsigmoid_name[] = "hardsigmoid",
               hardsigmoid_backward_name[] = "hardsigmoid_backward", hardshrink_name[] = "hardshrink",
               softshrink_name[] = "softshrink", shrink_backward_name[] = "shrink_backward",
               leaky_relu_name[] = "leaky_relu", leaky_relu_backward_name[] = "leaky_relu_backward",
               sigmoid_backward_name[] = "sigmoid_backward", tanh_backward_name[] = "tanh_backward",
               logit_name[] = "logit", glu_name[] = "glu", prelu_name[] = "prelu";

void elu(TensorIteratorBase& iter, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  const ELUParams<float> p = {alpha.to<float>(), scale.to<float>(), input_scale.to<float>()};
  run_with(lib, iter, "elu", p, "ELUParams_float");
}
void elu_backward(TensorIteratorBase& iter, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                  bool is_result) {
  const ELUBackwardParams<float> p = {alpha.to<float>(), scale.to<float>(), input_scale.to<float>(), is_result};
  run_with(lib, iter, "elu_backward", p, "ELUBackwardParams_float");
}

void softplus(TensorIteratorBase& iter, const Scalar& beta, const Scalar& threshold) {
  run_with(lib, iter, "softplus", SoftplusParams{beta.to<float>(), threshold.to<float>()}, "SoftplusParams");
}
void softplus_backward(TensorIteratorBase& iter, const Scalar& beta, const Scalar& threshold) {
  run_with(lib, iter, "softplus_backward", SoftplusParams{beta.to<float>(), threshold.to<float>()}, "SoftplusParams");
}

void threshold(TensorIteratorBase& iter, const Scalar& limit, const Scalar& value) {
  if (isFloatingType(iter.common_dtype())) {
    return run_with(lib, iter, "threshold", ThresholdParams{limit.to<float>(), value.to<float>()}, "ThresholdParams");
  }
  run_with(lib, iter, "threshold", ThresholdIntegerParams{limit.to<int64_t>(), value.to<int64_t>()},
           "ThresholdIntegerParams");
}
void hardtanh_backward(TensorIterator& iter, const Scalar& low, const Scalar& high) {
  run_with(lib, iter, "hardtanh_backward", ThresholdParams{low.to<float>(), high.to<float>()}, "ThresholdParams");
}
void logit_backward(TensorIteratorBase& iter, const Scalar& eps) {
  run_with(lib, iter, "logit_backward", eps.to<float>(), "float");
}

// Outputs: the gradient of the argument and of the weight, for the caller to sum.
void prelu_backward(TensorIterator& iter) {
  if (iter.numel() == 0) return;
  const auto kernel = lib.getKernelFunction("prelu_backward_" + mps::scalarToMetalTypeString(iter.dtype(0)));
  std::vector<int64_t> strides;
  for (int i = 0; i < 5; ++i) strides.insert(strides.end(), iter.strides(i).begin(), iter.strides(i).end());
  const std::vector<int64_t> sizes = iter.ndim() == 0 ? std::vector<int64_t>{1} : iter.shape().vec();
  if (strides.empty()) strides.assign(5, 0);
  kernel->runCommandBlock([&] {
    kernel->startEncoding();
    for (int i = 0; i < 5; ++i) kernel->setArg(static_cast<unsigned>(i), iter.tensor_base(i));
    kernel->setArg(5, sizes);
    kernel->setArg(6, strides);
    kernel->setArg(7, static_cast<uint32_t>(iter.ndim()));
    kernel->dispatch(static_cast<uint64_t>(iter.numel()));
  });
}

void glu_backward(TensorIterator& iter) { lib.exec_ternary_kernel(iter, "glu_backward"); }

}  // namespace

REGISTER_MPS_DISPATCH(GeluKernel, &gelu)
REGISTER_MPS_DISPATCH(GeluBackwardKernel, &gelu_backward)
REGISTER_MPS_DISPATCH(silu_stub, &unary<silu_name>)
REGISTER_MPS_DISPATCH(silu_backward_stub, &binary<silu_backward_name>)
REGISTER_MPS_DISPATCH(mish_stub, &unary<mish_name>)
REGISTER_MPS_DISPATCH(mish_backward_stub, (&binary<mish_backward_name, TensorIterator>))
REGISTER_MPS_DISPATCH(hardswish_stub, (&unary<hardswish_name, TensorIterator>))
REGISTER_MPS_DISPATCH(hardswish_backward_stub, (&binary<hardswish_backward_name, TensorIterator>))
REGISTER_MPS_DISPATCH(hardsigmoid_stub, &unary<hardsigmoid_name>)
REGISTER_MPS_DISPATCH(hardsigmoid_backward_stub, &binary<hardsigmoid_backward_name>)
REGISTER_MPS_DISPATCH(hardshrink_stub, &with_number<hardshrink_name>)
REGISTER_MPS_DISPATCH(softshrink_stub, &with_number<softshrink_name>)
REGISTER_MPS_DISPATCH(shrink_backward_stub, &with_number<shrink_backward_name>)
REGISTER_MPS_DISPATCH(leaky_relu_stub, &with_number<leaky_relu_name>)
REGISTER_MPS_DISPATCH(leaky_relu_backward_stub, &with_number<leaky_relu_backward_name>)
REGISTER_MPS_DISPATCH(elu_stub, &elu)
REGISTER_MPS_DISPATCH(elu_backward_stub, &elu_backward)
REGISTER_MPS_DISPATCH(softplus_stub, &softplus)
REGISTER_MPS_DISPATCH(softplus_backward_stub, &softplus_backward)
REGISTER_MPS_DISPATCH(threshold_stub, &threshold)
REGISTER_MPS_DISPATCH(hardtanh_backward_stub, &hardtanh_backward)
REGISTER_MPS_DISPATCH(sigmoid_backward_stub, &binary<sigmoid_backward_name>)
REGISTER_MPS_DISPATCH(tanh_backward_stub, &binary<tanh_backward_name>)
REGISTER_MPS_DISPATCH(logit_stub, &with_number<logit_name>)
REGISTER_MPS_DISPATCH(logit_backward_stub, &logit_backward)
REGISTER_MPS_DISPATCH(glu_stub, &binary<glu_name>)
REGISTER_MPS_DISPATCH(glu_backward_stub, &glu_backward)
REGISTER_MPS_DISPATCH(prelu_stub, (&binary<prelu_name, TensorIterator>))
REGISTER_MPS_DISPATCH(prelu_backward_stub, &prelu_backward)

TORCH_IMPL_FUNC(gelu_out_mps)(const Tensor& self, std::string_view approximate, const Tensor& out) {
  gelu(*this, get_gelutype_enum(approximate));
}
TORCH_IMPL_FUNC(gelu_backward_out_mps)
(const Tensor& grad, const Tensor& self, std::string_view approximate, const Tensor& grad_input) {
  gelu_backward(*this, get_gelutype_enum(approximate));
}

// The buffer is what the CPU's derivative reads; nothing reads it here.
std::tuple<Tensor&, Tensor&> log_sigmoid_forward_out_mps(const Tensor& self, Tensor& output, Tensor& buffer) {
  auto iter = TensorIterator::unary_op(output, self);
  lib.exec_unary_kernel(iter, "log_sigmoid");
  return std::forward_as_tuple(output, buffer);
}
std::tuple<Tensor, Tensor> log_sigmoid_forward_mps(const Tensor& self) {
  Tensor output = at::empty({0}, self.options()), buffer = at::empty({0}, self.options());
  log_sigmoid_forward_out_mps(self, output, buffer);
  return {output, buffer};
}
Tensor& log_sigmoid_backward_mps_out(const Tensor& grad, const Tensor& self, const Tensor& /*buffer*/,
                                     Tensor& grad_input) {
  auto iter = TensorIterator::borrowing_binary_op(grad_input, grad, self);
  lib.exec_binary_kernel(iter, "log_sigmoid_backward");
  return grad_input;
}
Tensor log_sigmoid_backward_mps(const Tensor& grad, const Tensor& self, const Tensor& buffer) {
  Tensor grad_input = at::empty({0}, grad.options());
  return log_sigmoid_backward_mps_out(grad, self, buffer, grad_input);
}

}  // namespace at::native
