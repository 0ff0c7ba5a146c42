// Normalisation of groups of channels.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

// layer_norm.h has types of the same names, and both may be in one batch.
#define forward_fn group_norm_forward_fn
#define backward_fn group_norm_backward_fn
#include <ATen/native/group_norm.h>
#undef forward_fn
#undef backward_fn

#include "Normalization.h"

namespace at::native {
namespace {

using mps::normalization::backward;
using mps::normalization::forward;

void group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t samples, int64_t channels,
                int64_t inner, int64_t groups, double epsilon, Tensor& output, Tensor& mean, Tensor& rstd) {
  const Tensor from = input.contiguous(),
               to = output.is_contiguous() ? output : at::empty(output.sizes(), output.options());
  forward("group_norm", from, weight, bias, {samples * groups, groups, channels / groups, inner}, epsilon, to, mean,
          rstd);
  if (!to.is_same(output)) output.copy_(to);
}

void group_norm_backward(const Tensor& gradient, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                         const Tensor& weight, int64_t samples, int64_t channels, int64_t inner, int64_t groups,
                         Tensor& result, Tensor& weight_gradient, Tensor& bias_gradient) {
  const bool is_direct = !result.defined() || result.is_contiguous();
  const Tensor to = is_direct ? result : at::empty(result.sizes(), result.options());
  backward("group_norm", gradient.contiguous(), input.contiguous(), mean.contiguous(), rstd.contiguous(), weight,
           {samples * groups, groups, channels / groups, inner}, to, weight_gradient, bias_gradient);
  if (!is_direct) result.copy_(to);
}

}  // namespace

REGISTER_MPS_DISPATCH(GroupNormKernel, &group_norm)
REGISTER_MPS_DISPATCH(GroupNormBackwardKernel, &group_norm_backward)

}  // namespace at::native
