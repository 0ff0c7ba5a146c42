// Operators of three tensors: addcmul, addcdiv, lerp, clamp.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/Lerp.h>
#include <ATen/native/PointwiseOps.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/native/mps/kernels/TensorCompare.h>

#include <ATen/native/mps/Pointwise_metallib.h>

#include "Elementwise.h"

namespace at::native {
namespace {

using mps::elementwise::parameter_type;
using mps::elementwise::run_with;

void addcmul(TensorIteratorBase& iter, const Scalar& value) {
  lib.exec_ternary_kernel(iter, "addcmul", value, parameter_type(iter.common_dtype()));
}

void addcdiv(TensorIteratorBase& iter, const Scalar& value) {
  lib.exec_ternary_kernel(iter, "addcdiv", value, parameter_type(iter.common_dtype()));
}

void lerp(TensorIteratorBase& iter) { lib.exec_ternary_kernel(iter, "lerp"); }

void lerp_by_number(TensorIteratorBase& iter, const Scalar& weight) {
  lib.exec_binary_kernel(iter, "lerp_alpha", weight, parameter_type(iter.common_dtype()));
}

void clamp(TensorIteratorBase& iter) { lib.exec_ternary_kernel(iter, "clamp"); }

void clamp_by_numbers(TensorIteratorBase& iter, const Scalar& low, const Scalar& high) {
  if (isFloatingType(iter.common_dtype())) {
    const ClampScalarParams<float> limits = {low.to<float>(), high.to<float>()};
    return run_with(lib, iter, "clamp_scalar", limits, "ClampScalarParams_float");
  }
  const ClampScalarParams<int64_t> limits = {low.to<int64_t>(), high.to<int64_t>()};
  run_with(lib, iter, "clamp_scalar", limits, "ClampScalarParams_long");
}

void limit(TensorIteratorBase& iter, const char* kernel, const Scalar& value) {
  if (isFloatingType(iter.common_dtype())) return run_with(lib, iter, kernel, value.to<float>(), "float");
  run_with(lib, iter, kernel, value.to<int64_t>(), "long");
}

void clamp_min_by_number(TensorIteratorBase& iter, Scalar low) { limit(iter, "clamp_min", low); }
void clamp_max_by_number(TensorIteratorBase& iter, Scalar high) { limit(iter, "clamp_max", high); }

}  // namespace

REGISTER_MPS_DISPATCH(addcmul_stub, &addcmul)
REGISTER_MPS_DISPATCH(addcdiv_stub, &addcdiv)
REGISTER_MPS_DISPATCH(lerp_kernel_tensor_weight, &lerp)
REGISTER_MPS_DISPATCH(lerp_kernel_scalar_weight, &lerp_by_number)
REGISTER_MPS_DISPATCH(clamp_stub, &clamp)
REGISTER_MPS_DISPATCH(clamp_scalar_stub, &clamp_by_numbers)
REGISTER_MPS_DISPATCH(clamp_min_scalar_stub, &clamp_min_by_number)
REGISTER_MPS_DISPATCH(clamp_max_scalar_stub, &clamp_max_by_number)

}  // namespace at::native
