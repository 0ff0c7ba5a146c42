// Operators that reduce dimensions.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include "Reduction.h"

#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/ReduceAllOps.h>
#include <ATen/native/ReduceOps.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/count_nonzero_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/imag.h>
#include <ATen/ops/real.h>
#include <ATen/ops/std_mean_native.h>
#include <ATen/ops/std_native.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/trace_native.h>
#include <ATen/ops/var_mean_native.h>
#include <ATen/ops/var_native.h>

#include <cmath>

#include <ATen/native/mps/Reduction_metallib.h>

namespace at::native {
namespace {

using namespace mps::reductions;

template <const char* name>
void reduce(TensorIterator& iter) {
  run(lib, name, iter);
}

// Many numbers that lie side by side and become one: in parts first, which threadgroups share.
template <const char* name>
void reduce_in_parts(TensorIterator& iter) {
  constexpr int64_t enough = int64_t{1} << 17, parts = 64;
  const Tensor& input = iter.tensor(1);
  const bool is_one_run = iter.numel() == input.numel() && iter.tensor(0).numel() == 1 && input.is_contiguous();
  if (!is_one_run || input.numel() < enough || input.numel() % parts != 0 || input.scalar_type() != kFloat ||
      iter.tensor(0).scalar_type() != kFloat) {
    return run(lib, name, iter);
  }
  const Tensor rows = input.view({parts, -1}), results = at::empty({parts}, input.options());
  run(lib, name, Plan(dimensions(rows, std::bitset<64>().set(1), false, results, {})), rows, results);
  run(lib, name, Plan(dimensions(results, std::bitset<64>().set(0), false, results, {})), results, iter.tensor(0));
}

constexpr char sum_name[] = "sum", nansum_name[] = "nansum", mean_name[] = "mean", prod_name[] = "prod",
               all_name[] = "all", any_name[] = "any", amin_name[] = "amin", amax_name[] = "amax",
               argmax_name[] = "argmax", argmin_name[] = "argmin";

void norm(TensorIterator& iter, const Scalar& order) {
  const double p = order.to<double>();
  const char* name = p == 0           ? "norm_0"
                     : p == 1         ? "norm_1"
                     : p == 2         ? "norm_2"
                     : p == INFINITY  ? "norm_largest"
                     : p == -INFINITY ? "norm_smallest"
                                      : "norm_of_order";
  run(lib, name, iter, static_cast<float>(p));
}

std::bitset<64> mask_of_all(const TensorBase& input) {
  std::bitset<64> mask;
  for (int64_t dimension = 0; dimension < input.dim(); ++dimension) mask.set(dimension);
  return mask;
}

std::bitset<64> mask_of(const TensorBase& input, int64_t dimension) {
  return input.dim() == 0 ? std::bitset<64>() : std::bitset<64>().set(dimension);
}

void reduce_to_both(const char* name, const Tensor& input, std::bitset<64> mask, bool keepdim, const Tensor& first,
                    const Tensor& second) {
  run(lib, name, Plan(dimensions(input, mask, keepdim, first, second)), input, first, second);
}

void max_with_place(const Tensor& values, const Tensor& indices, const Tensor& input, int64_t dimension, bool keepdim) {
  reduce_to_both("max_with_place", input, mask_of(input, dimension), keepdim, values, indices);
}

void min_with_place(const Tensor& values, const Tensor& indices, const Tensor& input, int64_t dimension, bool keepdim) {
  reduce_to_both("min_with_place", input, mask_of(input, dimension), keepdim, values, indices);
}

void aminmax(const Tensor& input, int64_t dimension, bool keepdim, Tensor& low, Tensor& high) {
  reduce_to_both("aminmax", input, mask_of(input, dimension), keepdim, low, high);
}

void aminmax_of_all(const Tensor& input, Tensor& low, Tensor& high) {
  reduce_to_both("aminmax", input, mask_of_all(input), false, low, high);
}

void max_of_all(Tensor& result, const Tensor& input) {
  run(lib, "amax", Plan(dimensions(input, mask_of_all(input), false, result, {})), input, result);
}

void min_of_all(Tensor& result, const Tensor& input) {
  run(lib, "amin", Plan(dimensions(input, mask_of_all(input), false, result, {})), input, result);
}

// Variances, or standard deviations; means too if `mean` is given.
void variance(const char* name, const Tensor& input, OptionalIntArrayRef dims,
              const std::optional<Scalar>& correction_opt, bool keepdim, bool take_root, Tensor& result, Tensor* mean) {
  TORCH_CHECK(at::isFloatingType(input.scalar_type()) || at::isComplexType(input.scalar_type()), name,
              " only support floating point and complex dtypes");
  const double correction = correction_opt.value_or(1).toDouble();
  const std::bitset<64> mask = make_dim_mask(dims, input.dim());
  const DimVector sizes = shape_from_dim_mask(input, mask, keepdim);
  if (at::isComplexType(input.scalar_type())) {
    // Of both parts, as of two numbers.
    const auto options = input.options().dtype(c10::toRealValueType(input.scalar_type()));
    Tensor parts[2], means[2];
    for (int part = 0; part < 2; ++part) {
      parts[part] = at::empty(sizes, options);
      if (mean) means[part] = at::empty(sizes, options);
      variance(name, part == 0 ? at::real(input) : at::imag(input), dims, correction_opt, keepdim, false, parts[part],
               mean ? &means[part] : nullptr);
    }
    result.resize_(sizes);
    Tensor sum = parts[0].add_(parts[1]);
    result.copy_(take_root ? sum.sqrt_() : sum);
    if (mean) {
      mean->resize_(sizes);
      mean->copy_(at::complex(means[0], means[1]));
    }
    return;
  }
  at::native::resize_output(result, sizes);
  if (mean) at::native::resize_output(*mean, sizes);
  const Tensor first = result.scalar_type() == input.scalar_type() ? result : at::empty(sizes, input.options());
  Plan plan(dimensions(input, mask, keepdim, first, mean ? *mean : Tensor()));
  if (result.numel() > 0 && static_cast<double>(plan.shape.count) <= correction) {
    TORCH_WARN(name,
               "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input "
               "numel divided by output numel).");
  }
  plan.shape.parameter = static_cast<float>(correction);
  plan.shape.take_root = take_root;
  if (mean) {
    run(lib, "var_mean", plan, input, first, *mean);
  } else {
    run(lib, "var", plan, input, first);
  }
  if (!first.is_same(result)) result.copy_(first);
}

Tensor variance(const char* name, const Tensor& input, OptionalIntArrayRef dims,
                const std::optional<Scalar>& correction, bool keepdim, bool take_root) {
  Tensor result = at::empty({0}, input.options().dtype(c10::toRealValueType(input.scalar_type())));
  variance(name, input, dims, correction, keepdim, take_root, result, nullptr);
  return result;
}

std::tuple<Tensor, Tensor> variance_and_mean(const char* name, const Tensor& input, OptionalIntArrayRef dims,
                                             const std::optional<Scalar>& correction, bool keepdim, bool take_root) {
  Tensor result = at::empty({0}, input.options().dtype(c10::toRealValueType(input.scalar_type())));
  Tensor mean = at::empty({0}, input.options());
  variance(name, input, dims, correction, keepdim, take_root, result, &mean);
  return {result, mean};
}

}  // namespace

REGISTER_MPS_DISPATCH(sum_stub, &reduce_in_parts<sum_name>)
REGISTER_MPS_DISPATCH(nansum_stub, &reduce<nansum_name>)
REGISTER_MPS_DISPATCH(mean_stub, &reduce_in_parts<mean_name>)
REGISTER_MPS_DISPATCH(prod_stub, &reduce<prod_name>)
REGISTER_MPS_DISPATCH(and_stub, &reduce<all_name>)
REGISTER_MPS_DISPATCH(or_stub, &reduce<any_name>)
REGISTER_MPS_DISPATCH(min_values_stub, &reduce_in_parts<amin_name>)
REGISTER_MPS_DISPATCH(max_values_stub, &reduce_in_parts<amax_name>)
REGISTER_MPS_DISPATCH(argmax_stub, &reduce<argmax_name>)
REGISTER_MPS_DISPATCH(argmin_stub, &reduce<argmin_name>)
REGISTER_MPS_DISPATCH(norm_stub, &norm)
REGISTER_MPS_DISPATCH(max_stub, &max_with_place)
REGISTER_MPS_DISPATCH(min_stub, &min_with_place)
REGISTER_MPS_DISPATCH(aminmax_stub, &aminmax)
REGISTER_MPS_DISPATCH(aminmax_allreduce_stub, &aminmax_of_all)
REGISTER_MPS_DISPATCH(max_all_stub, &max_of_all)
REGISTER_MPS_DISPATCH(min_all_stub, &min_of_all)

Tensor var_mps(const Tensor& input, OptionalIntArrayRef dims, const std::optional<Scalar>& correction, bool keepdim) {
  return variance("var", input, dims, correction, keepdim, false);
}

Tensor std_mps(const Tensor& input, OptionalIntArrayRef dims, const std::optional<Scalar>& correction, bool keepdim) {
  return variance("std", input, dims, correction, keepdim, true);
}

Tensor& var_out_mps(const Tensor& input, OptionalIntArrayRef dims, const std::optional<Scalar>& correction,
                    bool keepdim, Tensor& result) {
  variance("var", input, dims, correction, keepdim, false, result, nullptr);
  return result;
}

Tensor& std_out_mps(const Tensor& input, OptionalIntArrayRef dims, const std::optional<Scalar>& correction,
                    bool keepdim, Tensor& result) {
  variance("std", input, dims, correction, keepdim, true, result, nullptr);
  return result;
}

std::tuple<Tensor, Tensor> var_mean_mps(const Tensor& input, OptionalIntArrayRef dims,
                                        const std::optional<Scalar>& correction, bool keepdim) {
  return variance_and_mean("var_mean", input, dims, correction, keepdim, false);
}

std::tuple<Tensor, Tensor> std_mean_mps(const Tensor& input, OptionalIntArrayRef dims,
                                        const std::optional<Scalar>& correction, bool keepdim) {
  return variance_and_mean("std_mean", input, dims, correction, keepdim, true);
}

Tensor count_nonzero_mps(const Tensor& input, IntArrayRef dims) {
  const std::bitset<64> mask = make_dim_mask(dims, input.dim());
  Tensor result = at::empty(shape_from_dim_mask(input, mask, false), input.options().dtype(kLong));
  run(lib, "count_nonzero", Plan(dimensions(input, mask, false, result, {})), input, result);
  return result;
}

Tensor trace_mps(const Tensor& self) {
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  return at::sum(self.diagonal());
}

}  // namespace at::native
