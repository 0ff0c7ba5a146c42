#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "Elementwise.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <vector>

namespace at::native::mps::elementwise {
namespace {

// The operand from where it begins in the iterator: parts of large iterators begin elsewhere than their tensors.
Tensor operand_of(TensorIteratorBase& iter, int operand) {
  const Tensor& tensor = iter.tensor(operand);
  const auto offset =
      static_cast<const char*>(iter.data_ptr(operand)) - static_cast<const char*>(tensor.const_data_ptr());
  if (offset == 0) return tensor;
  return tensor.as_strided({1}, {1}, tensor.storage_offset() + offset / tensor.element_size());
}

void run_same_type(MetalShaderLibrary& library, TensorIteratorBase& iter, const std::string& name,
                   const Parameters& parameters) {
  if (iter.numel() == 0) return;
  if (!iter.can_use_32bit_indexing()) {
    for (auto&& part : iter.with_32bit_indexing()) run_same_type(library, part, name, parameters);
    return;
  }
  const bool dense = iter.is_contiguous();
  const auto kernel =
      library.getKernelFunction(name + (dense ? "_dense_" : "_strided_") + scalarToMetalTypeString(iter.dtype(0)) +
                                "_" + scalarToMetalTypeString(iter.dtype(1)) + "_" + parameters.type);
  const auto count = static_cast<uint64_t>(iter.numel());
  const auto tensors = static_cast<unsigned>(iter.ntensors());
  const bool unary = tensors == 2;
  kernel->runCommandBlock([&] {
    kernel->startEncoding();
    for (unsigned i = 0; i < tensors; ++i) kernel->setArg(i, operand_of(iter, static_cast<int>(i)));
    if (dense) {
      kernel->setArg(tensors, parameters.bytes, parameters.size);
      return kernel->dispatch(count);
    }
    // Sizes, then strides: those of a unary kernel begin with the input's.
    const unsigned sizes = unary ? 2 : 4;
    kernel->setArg(sizes, iter.shape());
    for (unsigned i = 0; i < tensors; ++i) {
      kernel->setArg(sizes + 1 + i, c10::IntArrayRef(iter.strides(static_cast<int>(unary ? 1 - i : i))));
    }
    // Binary kernels take a vector of three, of which they read the first.
    const std::array<uint32_t, 4> dimensions = {static_cast<uint32_t>(iter.ndim()), 0, 0, 0};
    kernel->setArg(sizes + 1 + tensors, dimensions.data(), (unary ? 1 : 4) * sizeof(uint32_t));
    kernel->setArg(unary ? 6 : 3, parameters.bytes, parameters.size);
    if (!unary) return kernel->dispatch(count);
    const auto inner = static_cast<uint64_t>(iter.shape()[0]);
    const auto limit = kernel->getMaxThreadsPerThreadgroup();
    kernel->dispatch(c10::ArrayRef<uint64_t>({inner, count / inner}),
                     c10::OptionalArrayRef<uint64_t>({std::min(inner, limit), uint64_t{1}}));
  });
}

}  // namespace

void run(MetalShaderLibrary& library, TensorIteratorBase& iter, const std::string& name, const Parameters& parameters) {
  const auto common = iter.common_dtype();
  bool same = iter.dtype(0) == common;
  for (int i = 1; i < iter.ntensors(); ++i) same &= iter.dtype(i) == common && !iter.tensor(i).device().is_cpu();
  if (same) return run_same_type(library, iter, name, parameters);

  const Tensor output = iter.tensor(0);
  Tensor result = output.scalar_type() == common ? output : at::empty(output.sizes(), output.options().dtype(common));
  TensorIteratorConfig config;
  config.add_output(result);
  for (int i = 1; i < iter.ntensors(); ++i) config.add_owned_const_input(iter.tensor(i).to(output.device(), common));
  auto converted = config.set_check_mem_overlap(false).resize_outputs(false).build();
  run_same_type(library, converted, name, parameters);
  if (!result.is_same(output)) output.copy_(result);
}

}  // namespace at::native::mps::elementwise
