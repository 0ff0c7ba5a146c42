// Addition, subtraction, multiplication, division in its rounding modes, remainders.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/add_native.h>

#include <ATen/native/mps/Arithmetic_metallib.h>

#include "Elementwise.h"

namespace at::native {
namespace {

void add(TensorIteratorBase& iter, const Scalar& alpha) {
  if (alpha.equal(1)) return lib.exec_binary_kernel(iter, "add");
  lib.exec_binary_kernel(iter, "add_alpha", alpha, mps::elementwise::parameter_type(iter.common_dtype()));
}

void sub(TensorIteratorBase& iter, const Scalar& alpha) {
  if (alpha.equal(1)) return lib.exec_binary_kernel(iter, "sub");
  lib.exec_binary_kernel(iter, "sub_alpha", alpha, mps::elementwise::parameter_type(iter.common_dtype()));
}

}  // namespace

REGISTER_MPS_DISPATCH(add_stub, &add)
REGISTER_MPS_DISPATCH(sub_stub, &sub)
BINARY_STUB(mul)
BINARY_STUB(div_true)
BINARY_STUB(div_trunc)
BINARY_STUB(div_floor)
BINARY_STUB(remainder)
BINARY_STUB(fmod)

TORCH_IMPL_FUNC(add_out_mps)
(const Tensor& self, const Tensor& other, const Scalar& alpha, const Tensor& out) { add(*this, alpha); }

}  // namespace at::native
