// copy_ from tensor to tensor of the device.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_neg_view.h>
#include <device/copy.h>

#include <ATen/native/mps/Copy_metallib.h>

#include "kernels.h"

namespace metalloid::operators {
namespace {

struct MoveShape {
  std::uint32_t sizes[4] = {1, 1, 1, 1};
  std::int64_t to[4]{}, from[4]{};
};

// Whether there is a kernel that moves elements of these types and converts them on the way.
bool converts(at::ScalarType to, at::ScalarType from) {
  const auto is_float = [](at::ScalarType type) {
    return type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
  };
  const auto is_known = [&](at::ScalarType type) {
    return is_float(type) || type == at::kBool || type == at::kByte ||
           (at::isIntegralType(type, /*includeBool=*/false) && at::isSignedType(type));
  };
  return to != from && is_known(to) && is_known(from) && (is_float(to) || is_float(from));
}

}  // namespace

bool move(at::TensorIteratorBase& iter) {
  constexpr std::int64_t least = 32, most = 4;
  const at::Tensor &target = iter.tensor(0), &origin = iter.tensor(1);
  const auto size = static_cast<std::int64_t>(target.element_size());
  const bool converted = converts(target.scalar_type(), origin.scalar_type());
  if ((target.scalar_type() != origin.scalar_type() && !converted) || size > 8 || iter.ndim() < 1 ||
      iter.ndim() > most || iter.numel() >= std::int64_t{1} << 31) {
    return false;
  }
  MoveShape shape;
  for (int dimension = 0; dimension < iter.ndim(); ++dimension) {
    shape.sizes[dimension] = static_cast<std::uint32_t>(iter.shape()[dimension]);
    shape.to[dimension] = iter.strides(0)[dimension] / size;
    shape.from[dimension] = iter.strides(1)[dimension] / static_cast<std::int64_t>(origin.element_size());
    if (shape.to[dimension] < 0 || shape.from[dimension] < 0) return false;  // behind where the tensor begins
  }
  if (shape.sizes[0] < least || shape.to[0] != 1) return false;
  const std::uint64_t outer = std::uint64_t{shape.sizes[2]} * shape.sizes[3];
  if (shape.from[0] == 1) {
    const std::uint64_t group = std::min<std::uint64_t>((shape.sizes[0] + 31) / 32 * 32, 1024);
    if (!converted) {
      run(lib, "move_rows_" + std::to_string(size), {shape.sizes[0], shape.sizes[1], outer}, {group, 1, 1}, target,
          origin, shape);
      return true;
    }
    const bool is_dense = iter.ndim() == 1;
    const std::string kernel = std::string(is_dense ? "convert_dense_" : "convert_rows_") +
                               metal_type(target.scalar_type(), "copy_") + "_" +
                               metal_type(origin.scalar_type(), "copy_");
    if (is_dense) {
      run(lib, kernel, {shape.sizes[0], 1, 1}, {group, 1, 1}, target, origin);
      return true;
    }
    run(lib, kernel, {shape.sizes[0], shape.sizes[1], outer}, {group, 1, 1}, target, origin, shape);
    return true;
  }
  if (converted || iter.ndim() < 2 || shape.from[1] != 1 || shape.sizes[1] < least) return false;
  run(lib, "move_turned_" + std::to_string(size),
      {(shape.sizes[0] + 31) / 32 * 32, (shape.sizes[1] + 31) / 32 * 8, outer}, {32, 8, 1}, target, origin, shape);
  return true;
}

}  // namespace metalloid::operators

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
  if (!conjugated && !negated && metalloid::operators::move(iter)) return true;
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
