// MetalShaderLibrary::exec_binary_kernel: which kernel of REGISTER_BINARY_OP's family runs.
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <c10/util/TypeCast.h>

#include "elementwise.h"

namespace at::native::mps {

using namespace elementwise;

namespace {

// Whether element i of the result takes element i % numel of `from`: the trailing dimensions are those of `into`, the
// leading ones 1.
bool repeats_over(const at::TensorBase& from, const at::TensorBase& into) {
  if (!from.is_contiguous()) return false;
  bool leading = false;
  for (std::int64_t i = 1; i <= from.dim(); ++i) {
    const std::int64_t size = from.size(-i);
    if (leading || i > into.dim()) {
      if (size != 1) return false;
    } else if (size != into.size(-i)) {
      if (size != 1) return false;
      leading = true;
    }
  }
  return true;
}

enum class Broadcast : std::uint8_t { none, other, input };

Broadcast broadcast_of(TensorIteratorBase& iter) {
  const at::TensorBase &out = iter.tensor_base(0), &input = iter.tensor_base(1), &other = iter.tensor_base(2);
  // Parts of large iterators are not whole tensors.
  if (out.numel() != iter.numel() || !out.is_contiguous() || input.numel() == other.numel()) return Broadcast::none;
  const auto full = [&](const at::TensorBase& one) { return one.numel() == out.numel() && one.is_contiguous(); };
  if (full(input) && repeats_over(other, out)) return Broadcast::other;
  if (full(other) && repeats_over(input, out)) return Broadcast::input;
  return Broadcast::none;
}

// Strides of one of the iterator's operands; one number where there are no dimensions.
c10::IntArrayRef strides_of(TensorIteratorBase& iter, int operand) {
  static constexpr std::int64_t none = 0;
  return iter.ndim() == 0 ? c10::IntArrayRef(none) : c10::IntArrayRef(iter.strides(operand));
}

c10::IntArrayRef shape_of(TensorIteratorBase& iter) {
  static constexpr std::int64_t one = 1;
  return iter.ndim() == 0 ? c10::IntArrayRef(one) : iter.shape();
}

}  // namespace

void MetalShaderLibrary::exec_binary_kernel(TensorIteratorBase& iter, const std::string& name,
                                            const std::optional<c10::Scalar> alpha,
                                            const std::optional<c10::ScalarType> scalar_arg_type,
                                            const std::optional<c10::ScalarType> natural_output_dtype,
                                            const std::optional<uint32_t> ilp_threshold) {
  const ScalarType output = iter.dtype(0);
  TORCH_CHECK(output != at::kDouble, "float64 is not supported on MPS");
  if (iter.numel() == 0) return;
  if (split_into_32bit(iter, [&](TensorIteratorBase& part) {
        exec_binary_kernel(part, name, alpha, scalar_arg_type, natural_output_dtype, ilp_threshold);
      })) {
    return;
  }
  const auto numel = c10::checked_convert<std::uint32_t>(iter.numel(), "uint32_t");
  const ScalarType input = bound_type(iter, 1), other = bound_type(iter, 2), common = common_type(iter);
  const ScalarType natural = natural_output_dtype.value_or(common);
  const bool cast = input != other;
  const auto inner = static_cast<std::uint32_t>(inner_size(iter));
  const auto dimensions = static_cast<std::uint32_t>(iter.ndim());
  const auto type_number = [](ScalarType type) { return static_cast<std::uint32_t>(type); };

  const ScalarType alpha_type = alpha ? scalar_arg_type.value_or(common) : ScalarType::Undefined;
  const auto set_alpha = [&](Encoding& encoding, unsigned index) {
    const metalloid::torch_host::Number number = metalloid::torch_host::number_of(*alpha, alpha_type);
    encoding->set_bytes(index, number.bytes, number.size);
  };
  // From buffer 3 on, behind alpha where there is one.
  const auto dispatch_strided = [&](Encoding& encoding) {
    const unsigned at = alpha ? 4 : 3;
    if (alpha) set_alpha(encoding, 3);
    encoding.set_list(at, shape_of(iter));
    for (int i = 0; i < 3; ++i) encoding.set_list(at + 1 + static_cast<unsigned>(i), strides_of(iter, i));
    encoding.set(at + 4, std::array{dimensions, type_number(input), type_number(other), type_number(output)});
    encoding->dispatch_jobs(numel);
  };

  if (output != natural) {
    const auto kernel = kernel_name({name, "strided_castout", metal_name(natural), metal_name(common)});
    if (!alpha && hasFunction(kernel)) {
      Encoding encoding(getPipelineStateForFunc(kernel));
      encoding.bind_all(iter);
      return dispatch_strided(encoding);
    }
    // No kernel stores another type: by way of a tensor of the natural one.
    if (natural != at::kDouble && natural != at::kComplexDouble) {
      const at::Tensor& result = iter.tensor(0);
      at::Tensor exact = at::empty(result.sizes(), result.options().dtype(natural));
      const bool to_float = isFloatingType(natural) && isIntegralType(input, true) && isIntegralType(other, true);
      auto exact_iter = TensorIteratorConfig()
                            .add_output(exact)
                            .add_const_input(iter.tensor(1))
                            .add_const_input(iter.tensor(2))
                            .allow_cpu_scalars(true)
                            .promote_inputs_to_common_dtype(true)
                            .promote_integer_inputs_to_float(to_float)
                            .check_all_same_dtype(false)
                            .build();
      if (result.numel() == iter.numel() && exact_iter.dtype(0) == natural) {
        exec_binary_kernel(exact_iter, name, alpha, scalar_arg_type, natural, ilp_threshold);
        result.copy_(exact);
        return;
      }
    }
  }

  const ScalarType kernel_input = !cast ? input : output == at::kBool ? common : output;
  const std::string_view alpha_name = alpha ? metal_name(alpha_type) : std::string_view();
  const auto pipeline_of = [&](std::string_view flavor) {
    return getPipelineStateForFunc(
        kernel_name({name, flavor, cast ? "cast" : "", metal_name(output), metal_name(kernel_input), alpha_name}));
  };
  const auto set_sizes_and_types = [&](Encoding& encoding, unsigned index) {
    encoding.set(index, std::array{static_cast<std::uint32_t>(size_of(input)),
                                   static_cast<std::uint32_t>(size_of(other)), type_number(input), type_number(other)});
  };

  static const std::string_view forced = forced_flavor("PYTORCH_BINARY_FORCE_FLAVOR");
  const Broadcast broadcast = forced.empty() ? broadcast_of(iter) : Broadcast::none;
  if (broadcast != Broadcast::none) {
    const bool is_left = broadcast == Broadcast::input;
    const std::int64_t repeated = iter.tensor_base(is_left ? 1 : 2).numel();
    const char* flavor = repeated == 1 ? (is_left ? "dense_scalar_lhs" : "dense_scalar")
                                       : (is_left ? "dense_broadcast_rhs" : "dense_broadcast");
    Encoding encoding(pipeline_of(flavor));
    encoding.bind_all(iter);
    unsigned next = 3;
    if (repeated != 1) encoding.set(next++, repeated);
    if (alpha) set_alpha(encoding, next++);
    if (cast) set_sizes_and_types(encoding, next);
    return encoding->dispatch_jobs(numel);
  }

  if (iter.is_contiguous() && forced != "strided" && forced != "inner_contiguous") {
    const bool may_pay = ilp_threshold && numel >= *ilp_threshold;
    const bool ilp = !cast && !alpha && (forced == "ilp" || (forced.empty() && may_pay));
    Encoding encoding(pipeline_of(ilp ? "dense_ilp4" : "dense"));
    encoding.bind_all(iter);
    if (ilp) {
      encoding.set(3, numel);
      return encoding->dispatch_jobs(ceil_div(numel, elements_per_thread));
    }
    unsigned next = 3;
    if (alpha) set_alpha(encoding, next++);
    if (cast) set_sizes_and_types(encoding, next);
    return encoding->dispatch_jobs(numel);
  }

  if (!cast && !alpha && forced != "strided" && has_contiguous_runs(iter)) {
    Encoding encoding(pipeline_of("inner_contiguous"));
    encoding.bind_all(iter);
    encoding.set_list(3, iter.shape().slice(1));
    for (int i = 0; i < 3; ++i) encoding.set_list(4 + static_cast<unsigned>(i), iter.strides(i).slice(1));
    encoding.set(7, std::array{dimensions - 1, inner});
    return encoding->dispatch_jobs(ceil_div(inner, elements_per_thread), numel / inner);
  }

  Encoding encoding(pipeline_of("strided"));
  encoding.bind_all(iter);
  dispatch_strided(encoding);
}

}  // namespace at::native::mps
