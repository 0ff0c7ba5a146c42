// Functions of two floating-point numbers.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/mps/MetalShaderLibrary.h>

#include <ATen/native/mps/FloatBinary_metallib.h>

#include "Elementwise.h"

namespace at::native {

BINARY_STUB(atan2)
BINARY_STUB(copysign)
BINARY_STUB(hypot)
BINARY_STUB(xlogy)
BINARY_STUB(xlog1py)
BINARY_STUB(zeta)
BINARY_STUB(igamma)
BINARY_STUB(igammac)
BINARY_STUB(logaddexp)
BINARY_STUB(logaddexp2)
BINARY_STUB(nextafter)

static void make_complex(TensorIterator& iter) {
  lib.exec_binary_kernel(iter, "make_complex", std::nullopt, std::nullopt, iter.dtype(0));
}
static void polar(TensorIterator& iter) {
  lib.exec_binary_kernel(iter, "polar", std::nullopt, std::nullopt, iter.dtype(0));
}
REGISTER_MPS_DISPATCH(complex_stub, &make_complex)
REGISTER_MPS_DISPATCH(polar_stub, &polar)

}  // namespace at::native
