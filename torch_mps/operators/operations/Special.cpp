// Error functions, gamma functions, Bessel functions.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/UnaryOps.h>
#include <ATen/native/mps/MetalShaderLibrary.h>

#include <ATen/native/mps/Special_metallib.h>

#include "Elementwise.h"

namespace at::native {

UNARY_STUB(erf)
UNARY_STUB(erfc)
UNARY_STUB(erfinv)
UNARY_STUB(special_erfcx)
UNARY_STUB(special_log_ndtr)
UNARY_STUB(special_ndtri)
UNARY_STUB(special_entr)
UNARY_STUB(lgamma)
UNARY_STUB(digamma)
UNARY_STUB(trigamma)
UNARY_STUB(i0)
UNARY_STUB(special_i0e)
UNARY_STUB(special_i1)
UNARY_STUB(special_i1e)
UNARY_STUB(special_spherical_bessel_j0)
UNARY_STUB(special_bessel_j0)
UNARY_STUB(special_bessel_j1)
UNARY_STUB(special_bessel_y0)
UNARY_STUB(special_bessel_y1)
UNARY_STUB(special_modified_bessel_i0)
UNARY_STUB(special_modified_bessel_i1)
UNARY_STUB(special_modified_bessel_k0)
UNARY_STUB(special_modified_bessel_k1)
UNARY_STUB(special_scaled_modified_bessel_k0)
UNARY_STUB(special_scaled_modified_bessel_k1)

static void polygamma_on_mps(TensorIteratorBase& iter, int64_t order) {
  if (order == 0) return lib.exec_unary_kernel(iter, "digamma");
  if (order == 1) return lib.exec_unary_kernel(iter, "trigamma");
  mps::elementwise::run_with(lib, iter, "polygamma", order, "long");
}
REGISTER_MPS_DISPATCH(polygamma_stub, &polygamma_on_mps)

}  // namespace at::native
