// Powers, with a tensor or a number as exponent.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/Pow.h>
#include <ATen/native/mps/MetalShaderLibrary.h>

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

}  // namespace at::native
