// sort, kthvalue, median, nanmedian.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include "Sorting.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/TensorMeta.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/native/Sorting.h>
#include <ATen/native/SortingUtils.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/kthvalue_native.h>
#include <ATen/ops/median_native.h>
#include <ATen/ops/nanmedian_native.h>

#include <ATen/native/mps/Sorting_metallib.h>

namespace at::native {
namespace mps {

#ifndef PYTORCH_JIT_COMPILE_SHADERS
static auto& lib = MetalShaderLibrary::getBundledLibrary();
#else
#endif

std::string scalarToMetalTypeString(const c10::ScalarType& scalar_type);

static constexpr uint32_t short_run = 16;  // run_length of Sorting.metal

// The first runs of each row: of up to 4096 elements, if an element and its place fit into 64 bits. Returns their
// length.
static uint64_t sort_runs(const Tensor& dense, const Tensor& keys, const Tensor& indices, uint32_t size,
                          bool descending) {
  const auto type = scalarToMetalTypeString(dense.scalar_type());
  const auto rows = static_cast<uint64_t>(dense.numel() / size);
  const bool is_long = size > short_run && dense.element_size() <= 4;
  const uint32_t run = !is_long ? short_run : size <= 1024 ? 1024 : 4096, runs_of_row = (size - 1) / run + 1;
  const uint64_t runs = rows * runs_of_row;
  auto function =
      lib.getKernelFunction((is_long ? "sort_runs_of_" + std::to_string(run) + "_" : std::string("sort_runs_")) + type);
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, dense);
    function->setArg(1, keys);
    function->setArg(2, indices);
    function->setArg(3, std::array<uint32_t, 4>{size, runs_of_row, run, 0});
    function->setArg(4, descending);
    if (is_long) {
      function->dispatch(runs * 32, 32);
    } else {
      function->dispatch(runs);
    }
  });
  return run;
}

std::pair<Tensor, Tensor> sort_rows(const Tensor& dense, bool descending, Tensor keys, Tensor indices) {
  if (!keys.defined()) keys = at::empty(dense.sizes(), dense.options());
  if (!indices.defined()) indices = at::empty(dense.sizes(), dense.options().dtype(kLong));
  if (dense.numel() == 0) return {keys, indices};
  const auto size = c10::checked_convert<uint32_t>(dense.dim() == 0 ? 1 : dense.size(-1), "uint32_t");
  const uint32_t threads_of_row = (size - 1) / short_run + 1;
  const uint64_t threads = static_cast<uint64_t>(dense.numel() / size) * threads_of_row;
  TORCH_CHECK(threads <= std::numeric_limits<uint32_t>::max() / 32, "too many elements to be sorted on MPS");
  uint64_t length = sort_runs(dense, keys, indices, size, descending);
  if (size <= length) return {keys, indices};
  Tensor other_keys = at::empty_like(keys), other_indices = at::empty_like(indices);
  auto merge = lib.getKernelFunction("merge_runs_" + scalarToMetalTypeString(dense.scalar_type()));
  for (; length < size; length *= 2) {
    merge->runCommandBlock([&] {
      merge->startEncoding();
      merge->setArg(0, keys);
      merge->setArg(1, indices);
      merge->setArg(2, other_keys);
      merge->setArg(3, other_indices);
      merge->setArg(4, std::array<uint32_t, 4>{size, threads_of_row, static_cast<uint32_t>(length), 0});
      merge->setArg(5, descending);
      merge->dispatch(threads);
    });
    std::swap(keys, other_keys);
    std::swap(indices, other_indices);
  }
  return {keys, indices};
}

// Values and indices of the medians of sorted rows.
static std::pair<Tensor, Tensor> median_of(const std::pair<Tensor, Tensor>& sorted, bool ignores_nan) {
  const auto& keys = sorted.first;
  const auto sizes = keys.dim() == 0 ? keys.sizes() : keys.sizes().slice(0, keys.dim() - 1);
  Tensor values = at::empty(sizes, keys.options()), indices = at::empty(sizes, sorted.second.options());
  if (values.numel() == 0) return {values, indices};
  auto function = lib.getKernelFunction("median_of_sorted_" + scalarToMetalTypeString(keys.scalar_type()));
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, keys);
    function->setArg(1, sorted.second);
    function->setArg(2, values);
    function->setArg(3, indices);
    function->setArg(4, static_cast<uint32_t>(keys.dim() == 0 ? 1 : keys.size(-1)));
    function->setArg(5, ignores_nan);
    function->dispatch(static_cast<uint64_t>(values.numel()));
  });
  return {values, indices};
}

Tensor rows_of(const Tensor& self, int64_t dim) {
  return self.dim() == 0 ? self.contiguous() : self.transpose(dim, -1).contiguous();
}
Tensor as_rows(const Tensor& result, const Tensor& self, int64_t dim) {
  const bool fits = result.is_contiguous() && (result.dim() == 0 || dim == result.dim() - 1);
  return fits && !result.is_alias_of(self) ? result : Tensor();
}
void copy_rows(const Tensor& result, const Tensor& rows, int64_t dim) {
  if (result.is_same(rows)) return;
  if (result.dim() == 0) {
    result.copy_(rows.reshape(IntArrayRef{}));
  } else {
    result.transpose(dim, -1).copy_(rows);
  }
}

}  // namespace mps

namespace {

using namespace mps;

void sort_kernel(const TensorBase& self, const TensorBase& values, const TensorBase& indices, int64_t dim,
                 bool descending, bool /*stable*/) {
  if (self.numel() == 0) return;
  const Tensor whole(self), all_values(values), all_indices(indices);
  const auto sorted =
      sort_rows(rows_of(whole, dim), descending, as_rows(all_values, whole, dim), as_rows(all_indices, whole, dim));
  copy_rows(all_values, sorted.first, dim);
  copy_rows(all_indices, sorted.second, dim);
}

void median_along_dim(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices, bool ignores_nan,
                      const char* name) {
  dim = at::maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(self.dim() == 0 || self.size(dim) != 0, name, ": Expected reduction dim ", dim,
                    " to have non-zero size.");
  TORCH_CHECK(self.device() == values.device() && self.device() == indices.device(), name,
              ": Expected all tensors to be on the same device");
  TORCH_CHECK(values.scalar_type() == self.scalar_type(), "Expected out tensor to have dtype ", self.scalar_type(),
              ", but got ", values.scalar_type(), " instead");
  TORCH_CHECK(indices.scalar_type() == kLong, "Expected out tensor to have dtype ", kLong, ", but got ",
              indices.scalar_type(), " instead");
  auto sizes = self.sizes().vec();
  if (!sizes.empty() && keepdim) sizes[dim] = 1;
  if (!sizes.empty() && !keepdim) sizes.erase(sizes.begin() + dim);
  resize_output(values, sizes);
  resize_output(indices, sizes);
  if (values.numel() == 0) return;
  auto medians = median_of(sort_rows(rows_of(self, dim), false), ignores_nan);
  // The dimension that was last is in the place of the one that is gone.
  auto place = [&](const Tensor& rows) {
    if (self.dim() <= 1) return rows.reshape(sizes);
    const Tensor back = rows.unsqueeze(-1).transpose(dim, -1);
    return keepdim ? back : back.squeeze(dim);
  };
  values.copy_(place(medians.first));
  indices.copy_(place(medians.second));
}

Tensor median_of_all(const Tensor& self, bool ignores_nan) {
  if (self.numel() == 0) return at::full({}, std::numeric_limits<float>::quiet_NaN(), self.options());
  return median_of(sort_rows(self.reshape({-1}).contiguous(), false), ignores_nan).first.reshape(IntArrayRef{});
}

}  // namespace

REGISTER_MPS_DISPATCH(sort_stub, &sort_kernel)

std::tuple<Tensor&, Tensor&> kthvalue_out_mps(const Tensor& self, int64_t k, int64_t dim, bool keepdim, Tensor& values,
                                              Tensor& indices) {
  dim = at::maybe_wrap_dim(dim, self.dim(), /*wrap_scalar=*/true);
  const int64_t size = self.dim() > 0 ? self.size(dim) : 1;
  TORCH_CHECK(k >= 1 && k <= size, "kthvalue(): selected number k out of range for dimension ", dim);
  at::assert_no_overlap(self, values);
  _reduction_with_indices_allocate_or_resize_output(values, indices, self, dim, keepdim);
  if (self.dim() == 0) {
    values.copy_(self);
    indices.zero_();
    return {values, indices};
  }
  if (values.numel() != 0) {
    const auto sorted = sort_rows(rows_of(self, dim), false);
    copy_rows(values, sorted.first.narrow(-1, k - 1, 1), dim);
    copy_rows(indices, sorted.second.narrow(-1, k - 1, 1), dim);
  }
  if (!keepdim) {
    values.squeeze_(dim);
    indices.squeeze_(dim);
  }
  return {values, indices};
}

std::tuple<Tensor&, Tensor&> median_out_mps(const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                                            Tensor& indices) {
  median_along_dim(self, dim, keepdim, values, indices, false, "median()");
  return {values, indices};
}

std::tuple<Tensor&, Tensor&> nanmedian_out_mps(const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                                               Tensor& indices) {
  median_along_dim(self, dim, keepdim, values, indices, true, "nanmedian()");
  return {values, indices};
}

Tensor median_mps(const Tensor& self) { return median_of_all(self, false); }
Tensor nanmedian_mps(const Tensor& self) { return median_of_all(self, true); }

}  // namespace at::native
