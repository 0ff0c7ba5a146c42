// copy_ from tensor to tensor of the device.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_neg_view.h>
#include <device/copy.h>

#include <ATen/native/mps/Copy_metallib.h>

namespace at::native {
namespace {

bool has_kernel(ScalarType type) {
  return type == kBool || type == kHalf || type == kBFloat16 || type == kFloat || isIntegralType(type, false) ||
         type == kComplexHalf || type == kComplexFloat;
}

// The same memory as what it is without lazy conjugates and negatives.
Tensor stored(const Tensor& tensor) {
  Tensor plain = tensor.is_conj() ? tensor.conj() : tensor;
  return plain.is_neg() ? at::_neg_view(plain) : plain;
}

bool copy(const Tensor& self, const Tensor& source) {
  if (!has_kernel(self.scalar_type()) || !has_kernel(source.scalar_type())) return false;
  const bool conjugated = self.is_conj() != source.is_conj(), negated = self.is_neg() != source.is_neg();
  const Tensor target = stored(self), origin = stored(source);
  // The types that have no sign are never lazily negative.
  auto iter = TensorIteratorConfig()
                  .add_output(target)
                  .add_const_input(origin)
                  .resize_outputs(false)
                  .check_all_same_dtype(false)
                  .build();
  lib.exec_unary_kernel(
      iter, conjugated ? (negated ? "copy_conj_neg" : "copy_conj") : (negated ? "copy_neg" : "copy_identity"));
  return true;
}

const bool registered = [] {
  metalloid::torch_device::set_copy_kernel(&copy);
  return true;
}();

}  // namespace
}  // namespace at::native
