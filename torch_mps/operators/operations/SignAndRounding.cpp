// Absolute values, signs, rounding, tests for NaN and infinity.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/native/mps/kernels/UnaryKernel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isnan_native.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include <ATen/native/mps/SignAndRounding_metallib.h>

#include "Elementwise.h"

namespace at::native {
namespace {

// What half and bfloat hold at most, as float.
float largest(ScalarType type) {
  switch (type) {
    case kHalf:
    case kComplexHalf: return 65504.0f;
    case kBFloat16: return 3.38953139e38f;
    default: return std::numeric_limits<float>::max();
  }
}

void nan_to_num(TensorIteratorBase& iter, std::optional<double> nan, std::optional<double> positive,
                std::optional<double> negative) {
  const float limit = largest(iter.dtype(0));
  const NanToNumParams<float> by = {static_cast<float>(nan.value_or(0)), static_cast<float>(positive.value_or(limit)),
                                    static_cast<float>(negative.value_or(-limit))};
  mps::elementwise::run_with(lib, iter, "nan_to_num", by, "NanToNumParams_float");
}

void round_decimals(TensorIteratorBase& iter, int64_t decimals) {
  mps::elementwise::run_with(lib, iter, "round_decimals", decimals, "long");
}

}  // namespace

UNARY_STUB(abs)
UNARY_STUB(neg)
UNARY_STUB(sign)
UNARY_STUB(sgn)
UNARY_STUB(signbit)
UNARY_STUB(angle)
UNARY_STUB(conj_physical)
UNARY_STUB(ceil)
UNARY_STUB(floor)
UNARY_STUB(trunc)
UNARY_STUB(round)
UNARY_STUB(frac)
UNARY_STUB(logical_not)
UNARY_STUB(isposinf)
UNARY_STUB(isneginf)
REGISTER_MPS_DISPATCH(nan_to_num_stub, &nan_to_num)
REGISTER_MPS_DISPATCH(round_decimals_stub, &round_decimals)

Tensor isnan_mps(const Tensor& self) {
  if (isIntegralType(self.scalar_type(), /*includeBool=*/true)) {
    return at::zeros(self.sizes(), self.options().dtype(kBool));
  }
  Tensor result = at::empty({0}, self.options().dtype(kBool));
  auto iter = TensorIteratorConfig().add_output(result).add_const_input(self).check_all_same_dtype(false).build();
  lib.exec_unary_kernel(iter, "isnan");
  return result;
}

}  // namespace at::native
