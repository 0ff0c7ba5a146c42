// Powers, with a tensor or a number as exponent.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/ScalarOps.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Pow.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/pow_native.h>

#include <c10/util/complex.h>

#include <ATen/native/mps/Power_metallib.h>

#include "Elementwise.h"

namespace at::native {

BINARY_STUB_AS(pow_tensor_tensor_stub, "pow")

static void pow_tensor_scalar(TensorIteratorBase& iter, const Scalar& exponent) {
  const auto common = iter.common_dtype();
  if (exponent.equal(2.0) && iter.dtype(1) == common) return lib.exec_unary_kernel(iter, "sqr");
  if (isComplexType(common)) {
    const auto value = exponent.to<c10::complex<float>>();
    return mps::elementwise::run_with(lib, iter, "pow_scalar", value, "float2");
  }
  if (isFloatingType(common)) {
    return mps::elementwise::run_with(lib, iter, "pow_scalar", exponent.to<float>(), "float");
  }
  mps::elementwise::run_with(lib, iter, "pow_scalar", exponent.to<int64_t>(), "long");
}
REGISTER_MPS_DISPATCH(pow_tensor_scalar_stub, &pow_tensor_scalar)

TORCH_IMPL_FUNC(pow_Scalar_out_mps)(const Scalar& base, const Tensor& exponent, const Tensor& out) {
  if (base.equal(1.0)) {
    out.fill_(1);
    return;
  }
  // A number of the CPU: as a tensor of the device it would be of float64.
  at::pow_out(const_cast<Tensor&>(out), wrapped_scalar_tensor(base), exponent);
}

}  // namespace at::native
