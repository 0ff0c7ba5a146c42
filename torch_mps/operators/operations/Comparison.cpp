// Comparisons, logical connectives, the larger and the smaller of two.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/BinaryOps.h>
#include <ATen/native/mps/MetalShaderLibrary.h>

#include <ATen/native/mps/Comparison_metallib.h>

#include "Elementwise.h"

// Kernels that give bool: another type of output is a conversion of that.
#define COMPARISON_STUB(NAME, ITERATOR)                                                \
  static void NAME##_on_mps(ITERATOR& iter) {                                          \
    lib.exec_binary_kernel(iter, #NAME, std::nullopt, std::nullopt, ScalarType::Bool); \
  }                                                                                    \
  REGISTER_MPS_DISPATCH(NAME##_stub, &NAME##_on_mps)

namespace at::native {

COMPARISON_STUB(eq, TensorIteratorBase)
COMPARISON_STUB(ne, TensorIteratorBase)
COMPARISON_STUB(lt, TensorIteratorBase)
COMPARISON_STUB(le, TensorIteratorBase)
COMPARISON_STUB(gt, TensorIteratorBase)
COMPARISON_STUB(ge, TensorIteratorBase)
COMPARISON_STUB(logical_and, TensorIterator)
COMPARISON_STUB(logical_or, TensorIterator)
COMPARISON_STUB(logical_xor, TensorIterator)
BINARY_STUB(maximum)
BINARY_STUB(minimum)
BINARY_STUB(fmax)
BINARY_STUB(fmin)
BINARY_STUB(heaviside)

}  // namespace at::native
