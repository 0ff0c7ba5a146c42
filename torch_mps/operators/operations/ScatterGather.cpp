// gather, scatter and scatter_reduce, index_select, index_add, index_reduce.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/MemoryOverlap.h>
#include <ATen/TensorMeta.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/ReductionType.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorAdvancedIndexing.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_add_native.h>
#include <ATen/ops/index_reduce_native.h>
#include <ATen/ops/index_select_native.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>

#include "Indexing.h"

namespace at::native {

namespace mps {
std::string scalarToMetalTypeString(const c10::ScalarType& scalar_type);
}

namespace {

using namespace mps::indexing;

void gather_kernel(const Tensor& result, const Tensor& self, int64_t dim, const Tensor& index) {
  if (along_lines("gather_lines_", Direction::from_indexed, self, result, index, dim)) return;
  along_dim("gather_" + size_name(self) + "_" + index_name(index), Direction::from_indexed, self, result, index, dim,
            index.sizes(), index.strides());
}

void scatter_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  if (along_lines("scatter_lines_", Direction::to_indexed, self, source, index, dim)) return;
  along_dim("scatter_" + size_name(self) + "_" + index_name(index), Direction::to_indexed, self, source, index, dim,
            index.sizes(), index.strides());
}

// One element that is read everywhere.
Tensor filled_like(const Tensor& self, const Tensor& index, const Scalar& value) {
  return at::full({}, value, self.options()).expand(index.sizes());
}

void scatter_fill_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  scatter_kernel(self, dim, index, filled_like(self, index, value));
}

void scatter_add_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  add_along_dim(self, source, index, dim, index.sizes(), index.strides());
}

void reduce_along_dim(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                      const ReductionType& reduce, IntArrayRef sizes, IntArrayRef index_strides) {
  if (reduce == ReductionType::SUM || reduce == ReductionType::MEAN) {
    add_along_dim(self, source, index, dim, sizes, index_strides);
    return;
  }
  const char* name = reduce == ReductionType::PROD  ? "scatter_prod_"
                     : reduce == ReductionType::MAX ? "scatter_amax_"
                                                    : "scatter_amin_";
  along_dim(name + mps::scalarToMetalTypeString(self.scalar_type()) + "_" + index_name(index), Direction::to_indexed,
            self, source, index, dim, sizes, index_strides, false, true);
}

void scatter_reduce_kernel(const Tensor& self, const int64_t dim, const Tensor& index, const Tensor& source,
                           const ReductionType& reduce) {
  reduce_along_dim(self, dim, index, source, reduce, index.sizes(), index.strides());
}

void scatter_scalar_reduce_kernel(const Tensor& self, const int64_t dim, const Tensor& index, const Scalar& value,
                                  const ReductionType& reduce) {
  scatter_reduce_kernel(self, dim, index, filled_like(self, index, value), reduce);
}

}  // namespace

REGISTER_MPS_DISPATCH(gather_stub, &gather_kernel)
REGISTER_MPS_DISPATCH(scatter_stub, &scatter_kernel)
REGISTER_MPS_DISPATCH(scatter_fill_stub, &scatter_fill_kernel)
REGISTER_MPS_DISPATCH(scatter_add_stub, &scatter_add_kernel)
REGISTER_MPS_DISPATCH(scatter_reduce_stub, &scatter_reduce_kernel)
REGISTER_MPS_DISPATCH(scatter_scalar_reduce_stub, &scatter_scalar_reduce_kernel)
REGISTER_MPS_DISPATCH(scatter_reduce_two_stub, &scatter_reduce_kernel)

Tensor& index_select_out_mps(const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  dim = maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector, but got dim: ", index.dim(),
                    " with sizes: ", index.sizes());
  TORCH_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt,
              "index_select(): Expected dtype int32 or int64 for index but got: ", index.scalar_type());
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "index_select(): self and result must have the same scalar type");
  TORCH_CHECK(self.dim() == 0 || dim < self.dim(), "index_select(): Indexing dim ", dim, " is out of bounds of tensor");
  TORCH_CHECK(self.dim() != 0 || index.numel() == 1, "index_select(): Index to scalar can have only 1 value, got ",
              index.numel(), " value(s)");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, index);
  auto sizes = self.sizes().vec();
  if (!sizes.empty()) sizes[dim] = index.numel();
  resize_output(out, sizes);
  if (out.numel() == 0 || gather_rows(self, out, index, dim)) return out;
  along_dim("gather_" + size_name(self) + "_" + index_name(index), Direction::from_indexed, self, out, index, dim,
            sizes, strides_of_vector(index, dim, sizes.size()));
  return out;
}

Tensor index_select_mps(const Tensor& self, int64_t dim, const Tensor& index) {
  Tensor out = at::empty({0}, self.options());
  return index_select_out_mps(self, dim, index, out);
}

TORCH_IMPL_FUNC(index_add_mps_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha,
 const Tensor& result) {
  if (!result.is_same(self)) result.copy_(self);
  if (index.numel() == 0 || source.numel() == 0 || result.numel() == 0) return;
  const Tensor scaled = alpha.equal(1) ? source : source.mul(alpha);
  add_along_dim(result, scaled.to(result.scalar_type()), index, dim, scaled.sizes(),
                strides_of_vector(index, dim, source.dim()));
}

TORCH_IMPL_FUNC(index_reduce_mps_out)
(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const std::string_view reduce,
 bool include_input, const Tensor& result) {
  TORCH_WARN_ONCE("index_reduce() is in beta and the API may change at any time.");
  if (!result.is_same(self)) result.copy_(self);
  if (index.numel() == 0 || source.numel() == 0 || result.numel() == 0) return;
  const auto operation = get_operator_enum(reduce, true);
  if (!include_input) {
    const bool is_floating = isFloatingType(result.scalar_type());
    const auto largest =
        is_floating ? Scalar(std::numeric_limits<double>::infinity())
                    : Scalar(result.scalar_type() == kBool   ? 1
                             : result.scalar_type() == kLong ? INT64_MAX
                             : result.scalar_type() == kByte ? 255
                                                             : (int64_t{1} << (8 * result.element_size() - 1)) - 1);
    const auto least = is_floating
                           ? Scalar(-std::numeric_limits<double>::infinity())
                           : Scalar(result.scalar_type() == kBool || result.scalar_type() == kByte ? int64_t{0}
                                    : result.scalar_type() == kLong ? INT64_MIN
                                                                    : -(int64_t{1} << (8 * result.element_size() - 1)));
    const Scalar initial = operation == ReductionType::PROD  ? Scalar(1)
                           : operation == ReductionType::MAX ? least
                           : operation == ReductionType::MIN ? largest
                                                             : Scalar(0);
    Tensor(result).index_fill_(dim, index.to(kLong), initial);
  }
  reduce_along_dim(result, dim, index, source, operation, source.sizes(), strides_of_vector(index, dim, source.dim()));
  if (operation == ReductionType::MEAN) {
    Tensor counts = include_input ? at::ones_like(result) : at::zeros_like(result);
    counts.index_add_(dim, index, at::ones_like(source));
    counts.masked_fill_(counts.eq(0), 1);
    if (result.is_floating_point() || result.is_complex()) {
      Tensor(result).div_(counts);
    } else {
      Tensor(result).div_(counts, "floor");
    }
  }
}

}  // namespace at::native
