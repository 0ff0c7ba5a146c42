// Orthogonal polynomials.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/BinaryOps.h>
#include <ATen/native/mps/MetalShaderLibrary.h>

#include <ATen/native/mps/Polynomials_metallib.h>

#include "Elementwise.h"

namespace at::native {

BINARY_STUB(chebyshev_polynomial_t)
BINARY_STUB(chebyshev_polynomial_u)
BINARY_STUB(chebyshev_polynomial_v)
BINARY_STUB(chebyshev_polynomial_w)
BINARY_STUB(shifted_chebyshev_polynomial_t)
BINARY_STUB(shifted_chebyshev_polynomial_u)
BINARY_STUB(shifted_chebyshev_polynomial_v)
BINARY_STUB(shifted_chebyshev_polynomial_w)
BINARY_STUB(hermite_polynomial_h)
BINARY_STUB(hermite_polynomial_he)
BINARY_STUB(laguerre_polynomial_l)
BINARY_STUB(legendre_polynomial_p)

}  // namespace at::native
