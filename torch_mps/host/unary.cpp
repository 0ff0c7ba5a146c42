// MetalShaderLibrary::exec_unary_kernel: which kernel of REGISTER_UNARY_OP's family runs.
#include <c10/util/Exception.h>
#include <c10/util/TypeCast.h>

#include "elementwise.h"

namespace at::native::mps {

using namespace elementwise;

namespace {

enum class Flavor : std::uint8_t { scalar, ilp, strided, inner_contiguous };

Flavor choose(TensorIteratorBase& iter, bool alpha, std::optional<std::uint32_t> ilp_threshold) {
  static const std::string_view forced = forced_flavor("PYTORCH_UNARY_FORCE_FLAVOR");
  const bool contiguous = iter.is_contiguous();
  if (!alpha && !forced.empty()) {
    if (forced == "strided") return Flavor::strided;
    if (forced == "inner_contiguous" && iter.ndim() >= 2 && has_contiguous_runs(iter)) return Flavor::inner_contiguous;
    if (forced == "ilp" && contiguous) return Flavor::ilp;
    if (forced == "scalar" && contiguous) return Flavor::scalar;
  }
  if (contiguous) return ilp_threshold && iter.numel() >= *ilp_threshold ? Flavor::ilp : Flavor::scalar;
  return has_contiguous_runs(iter) ? Flavor::inner_contiguous : Flavor::strided;
}

// Sizes and strides of the dimensions behind the first.
void set_outer(Encoding& encoding, TensorIteratorBase& iter) {
  encoding.set_list(2, iter.shape().slice(1));
  encoding.set_list(3, iter.strides(1).slice(1));
  encoding.set_list(4, iter.strides(0).slice(1));
}

void set_layout(Encoding& encoding, TensorIteratorBase& iter) {
  // Metal's kernels want at least one of each, also where there are no dimensions.
  constexpr std::int64_t one = 1;
  const bool none = iter.ndim() == 0;
  encoding.set_list(2, none ? c10::IntArrayRef(one) : iter.shape());
  encoding.set_list(3, none ? c10::IntArrayRef(one) : c10::IntArrayRef(iter.strides(1)));
  encoding.set_list(4, none ? c10::IntArrayRef(one) : c10::IntArrayRef(iter.strides(0)));
}

std::uint64_t runs_of(TensorIteratorBase& iter) { return static_cast<std::uint64_t>(iter.numel()) / inner_size(iter); }

}  // namespace

void MetalShaderLibrary::exec_unary_kernel(TensorIteratorBase& iter, const std::string& name,
                                           const std::optional<c10::Scalar> alpha,
                                           const std::optional<c10::ScalarType> scalar_arg_type,
                                           const std::optional<uint32_t> ilp_threshold) {
  if (split_into_32bit(iter, [&](TensorIteratorBase& part) {
        exec_unary_kernel(part, name, alpha, scalar_arg_type, ilp_threshold);
      })) {
    return;
  }
  if (iter.numel() == 0) return;
  const auto numel = c10::checked_convert<std::uint32_t>(iter.numel(), "uint32_t");
  const ScalarType output = iter.dtype(0), input = bound_type(iter, 1);
  const Flavor flavor = choose(iter, alpha.has_value(), ilp_threshold);
  const auto dimensions = static_cast<std::uint32_t>(iter.ndim());
  const auto inner = static_cast<std::uint32_t>(inner_size(iter));

  if (alpha) {
    const ScalarType alpha_type = scalar_arg_type.value_or(common_type(iter));
    constexpr std::array flavors = {"dense", "dense_ilp", "strided", "inner_contiguous"};
    const auto named = [&](std::string_view kind) {
      return kernel_name({name, kind, metal_name(output), metal_name(input), metal_name(alpha_type)});
    };
    const auto kernel = named(flavors[static_cast<std::size_t>(flavor)]);
    const bool has_runs = flavor == Flavor::inner_contiguous && hasFunction(kernel);
    Encoding encoding(
        getPipelineStateForFunc(flavor == Flavor::inner_contiguous && !has_runs ? named("strided") : kernel));
    encoding.bind_all(iter);
    const bool dense = flavor == Flavor::scalar || flavor == Flavor::ilp;
    const metalloid::torch_host::Number number = metalloid::torch_host::number_of(*alpha, alpha_type);
    encoding->set_bytes(dense ? 2 : 6, number.bytes, number.size);
    if (flavor == Flavor::scalar) return encoding->dispatch_jobs(numel);
    if (flavor == Flavor::ilp) {
      encoding.set(3, numel);
      return encoding->dispatch_jobs(ceil_div(numel, elements_per_thread));
    }
    if (has_runs) {
      set_outer(encoding, iter);
      encoding.set(5, std::array<std::uint32_t, 2>{dimensions - 1, inner});
      return encoding->dispatch_jobs(ceil_div(inner, elements_per_thread), runs_of(iter));
    }
    set_layout(encoding, iter);
    encoding.set(5, dimensions);
    return encoding->dispatch_jobs(inner, runs_of(iter));
  }

  constexpr std::array flavors = {"dense_scalar", "dense", "strided", "inner_contiguous"};
  const auto direct =
      kernel_name({name, flavors[static_cast<std::size_t>(flavor)], metal_name(output), metal_name(input)});
  if (hasFunction(direct)) {
    Encoding encoding(getPipelineStateForFunc(direct));
    encoding.bind_all(iter);
    switch (flavor) {
      case Flavor::scalar: return encoding->dispatch_jobs(numel);
      case Flavor::ilp: encoding.set(2, numel); return encoding->dispatch_jobs(ceil_div(numel, elements_per_thread));
      case Flavor::strided:
        set_layout(encoding, iter);
        encoding.set(5, dimensions);
        return encoding->dispatch_jobs(inner, runs_of(iter));
      case Flavor::inner_contiguous:
        set_outer(encoding, iter);
        encoding.set(5, std::array<std::uint32_t, 2>{dimensions - 1, inner});
        return encoding->dispatch_jobs(ceil_div(inner, elements_per_thread), runs_of(iter));
    }
  }

  // Computed in the input's type, stored in the output's.
  const bool ilp = flavor == Flavor::ilp && ilp_threshold.has_value();
  const char* cast_flavor = flavor == Flavor::strided            ? "strided_castout"
                            : flavor == Flavor::inner_contiguous ? "inner_contiguous_castout"
                            : ilp                                ? "dense_castout_ilp"
                                                                 : "dense_castout";
  Encoding encoding(getPipelineStateForFunc(kernel_name({name, cast_flavor, metal_name(input)})));
  encoding.bind_all(iter);
  const auto out_size = static_cast<std::uint32_t>(size_of(output)), out_type = static_cast<std::uint32_t>(output);
  if (flavor == Flavor::strided) {
    set_layout(encoding, iter);
    encoding.set(5, std::array<std::uint32_t, 2>{dimensions, out_type});
    return encoding->dispatch_jobs(inner, runs_of(iter));
  }
  if (flavor == Flavor::inner_contiguous) {
    set_outer(encoding, iter);
    encoding.set(5, std::array<std::uint32_t, 4>{dimensions - 1, inner, out_size, out_type});
    return encoding->dispatch_jobs(ceil_div(inner, elements_per_thread), runs_of(iter));
  }
  if (ilp) {
    encoding.set(2, std::array<std::uint32_t, 4>{out_size, out_type, numel, 0});
    return encoding->dispatch_jobs(ceil_div(numel, elements_per_thread));
  }
  encoding.set(2, std::array<std::uint32_t, 2>{out_size, out_type});
  encoding->dispatch_jobs(numel);
}

void MetalShaderLibrary::exec_unary_kernel_raw(std::string_view name, MTLBuffer_t src_buf, uint32_t src_offs_bytes,
                                               c10::ScalarType src_dtype, MTLBuffer_t dst_buf, uint32_t dst_offs_bytes,
                                               c10::ScalarType dst_dtype, uint32_t numel,
                                               const std::optional<uint32_t> ilp_threshold) {
  if (numel == 0) return;
  const bool ilp = ilp_threshold && numel >= *ilp_threshold;
  Encoding encoding(
      getPipelineStateForFunc(kernel_name({name, ilp ? "dense_castout_ilp" : "dense_castout", metal_name(src_dtype)})));
  encoding->set_buffer(0, dst_buf, dst_offs_bytes);
  encoding->set_buffer(1, src_buf, src_offs_bytes);
  const auto out_size = static_cast<std::uint32_t>(size_of(dst_dtype)),
             out_type = static_cast<std::uint32_t>(dst_dtype);
  if (ilp) {
    encoding.set(2, std::array<std::uint32_t, 4>{out_size, out_type, numel, 0});
    return encoding->dispatch_jobs(ceil_div(numel, elements_per_thread));
  }
  encoding.set(2, std::array<std::uint32_t, 2>{out_size, out_type});
  encoding->dispatch_jobs(numel);
}

}  // namespace at::native::mps
