// Exponentials, logarithms, roots, circular and hyperbolic functions.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/UnaryOps.h>
#include <ATen/native/mps/MetalShaderLibrary.h>

#include <ATen/native/mps/Elementary_metallib.h>

#include "Elementwise.h"

namespace at::native {

UNARY_STUB(exp)
UNARY_STUB(exp2)
UNARY_STUB(expm1)
UNARY_STUB(log)
UNARY_STUB(log2)
UNARY_STUB(log10)
UNARY_STUB(log1p)
UNARY_STUB(sqrt)
UNARY_STUB(rsqrt)
UNARY_STUB(reciprocal)
UNARY_STUB(sigmoid)
UNARY_STUB(sin)
UNARY_STUB(cos)
UNARY_STUB(tan)
UNARY_STUB(asin)
UNARY_STUB(acos)
UNARY_STUB(atan)
UNARY_STUB(sinh)
UNARY_STUB(cosh)
UNARY_STUB(tanh)
UNARY_STUB(asinh)
UNARY_STUB(acosh)
UNARY_STUB(atanh)
UNARY_STUB(sinc)

}  // namespace at::native
