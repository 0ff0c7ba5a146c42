// MetalShaderLibrary::exec_ternary_kernel: which kernel of REGISTER_TERNARY_OP's family runs.
#include <c10/util/Exception.h>
#include <c10/util/TypeCast.h>

#include "elementwise.h"

namespace at::native::mps {

using namespace elementwise;

void MetalShaderLibrary::exec_ternary_kernel(TensorIteratorBase& iter, const std::string& name,
                                             const std::optional<c10::Scalar> alpha,
                                             const std::optional<c10::ScalarType> scalar_arg_type) {
  const ScalarType output = iter.dtype(0);
  TORCH_CHECK(output != at::kDouble, "float64 is not supported on MPS");
  if (iter.numel() == 0) return;
  if (split_into_32bit(iter,
                       [&](TensorIteratorBase& part) { exec_ternary_kernel(part, name, alpha, scalar_arg_type); })) {
    return;
  }
  const auto numel = c10::checked_convert<std::uint32_t>(iter.numel(), "uint32_t");
  const ScalarType common = common_type(iter);
  std::array<std::uint32_t, 4> sizes{}, types{};  // of the inputs, then the output
  bool cast = output != common;
  for (int i = 0; i < 4; ++i) {
    const ScalarType type = i < 3 ? bound_type(iter, i + 1) : output;
    if (i < 3) cast |= type != bound_type(iter, 1);
    sizes[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(size_of(type));
    types[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(type);
  }
  const bool dense = iter.is_contiguous();
  const char* flavor = dense ? "dense" : "strided";
  const ScalarType input = bound_type(iter, 1);
  const ScalarType alpha_type = alpha ? scalar_arg_type.value_or(common) : ScalarType::Undefined;
  const std::string_view alpha_name = alpha ? metal_name(alpha_type) : std::string_view();
  const std::string plain = kernel_name({name, flavor, metal_name(output), metal_name(input), alpha_name});
  // Operators whose result has another type than their operands have kernels for that.
  if (cast && input == bound_type(iter, 2) && input == bound_type(iter, 3) && hasFunction(plain)) cast = false;

  Encoding encoding(
      getPipelineStateForFunc(cast ? kernel_name({name, flavor, "cast", metal_name(common), alpha_name}) : plain));
  encoding.bind_all(iter);
  unsigned next = 4;
  if (alpha) {
    const metalloid::torch_host::Number number = metalloid::torch_host::number_of(*alpha, alpha_type);
    encoding->set_bytes(next++, number.bytes, number.size);
  }
  if (dense) {
    if (cast) {
      encoding.set(next++, sizes);
      encoding.set(next++, types);
    }
    return encoding->dispatch_jobs(numel);
  }
  encoding.set_list(next++, iter.shape());
  for (int i = 0; i < 4; ++i) encoding.set_list(next++, iter.strides(i));
  encoding.set(next++, static_cast<std::uint32_t>(iter.ndim()));
  if (cast) encoding.set(next++, types);
  const std::uint64_t x = inner_size(iter), y = iter.ndim() > 1 ? static_cast<std::uint64_t>(iter.shape()[1]) : 1;
  encoding->dispatch_jobs(x, y, numel / (x * y));
}

}  // namespace at::native::mps
