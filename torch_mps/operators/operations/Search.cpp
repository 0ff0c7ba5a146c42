// searchsorted and bucketize; unique and unique_consecutive of all elements.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/BucketizationUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_unique2_native.h>
#include <ATen/ops/_unique_native.h>
#include <ATen/ops/bucketize_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/searchsorted_native.h>

#include <ATen/native/mps/Sorting_metallib.h>

#include "Sorting.h"

namespace at::native {
namespace mps {

#ifndef PYTORCH_JIT_COMPILE_SHADERS
static auto& lib = MetalShaderLibrary::getBundledLibrary();
#else
#endif

std::string scalarToMetalTypeString(const c10::ScalarType& scalar_type);

// Distinct neighbours of a dense vector; inverse goes where `indices` says.
static std::tuple<Tensor, Tensor, Tensor> distinct(const Tensor& sorted, const Tensor& indices, bool return_counts) {
  const int64_t size = sorted.numel();
  const auto longs = sorted.options().dtype(kLong);
  Tensor inverse = at::empty({size}, longs);
  if (size == 0) return {at::empty({0}, sorted.options()), inverse, at::empty({0}, longs)};
  const auto type = scalarToMetalTypeString(sorted.scalar_type());
  Tensor marks = at::empty({size}, sorted.options().dtype(kInt));
  auto mark = lib.getKernelFunction("mark_distinct_" + type);
  mark->runCommandBlock([&] {
    mark->startEncoding();
    mark->setArg(0, sorted);
    mark->setArg(1, marks);
    mark->dispatch(static_cast<uint64_t>(size));
  });
  const Tensor numbers = marks.cumsum(0, kLong);
  const int64_t count = numbers[-1].item<int64_t>();
  Tensor values = at::empty({count}, sorted.options()), starts = at::empty({count + 1}, longs);
  auto collect = lib.getKernelFunction("collect_distinct_" + type);
  collect->runCommandBlock([&] {
    collect->startEncoding();
    collect->setArg(0, sorted);
    collect->setArg(1, indices);
    collect->setArg(2, numbers);
    collect->setArg(3, values);
    collect->setArg(4, inverse);
    collect->setArg(5, starts);
    collect->setArg(6, static_cast<uint32_t>(size));
    collect->dispatch(static_cast<uint64_t>(size));
  });
  return {values, inverse, return_counts ? starts.diff() : at::empty({0}, longs)};
}

}  // namespace mps

using namespace mps;

Tensor& searchsorted_out_mps(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                             const std::optional<std::string_view> side, const std::optional<Tensor>& sorter,
                             Tensor& result) {
  const Tensor order = sorter.value_or(Tensor());
  searchsorted_pre_check(sorted_sequence, self, result, out_int32, right, side, order);
  resize_output(result, self.sizes());
  if (self.numel() == 0) return result;
  const bool is_right = side ? *side == "right" : right;
  Tensor values, boundaries, dense_order;
  searchsorted_maybe_trim_input_tensors(values, boundaries, dense_order, self, sorted_sequence, order);
  const auto chosen = [](const Tensor& trimmed, const Tensor& raw) { return trimmed.defined() ? trimmed : raw; };
  values = chosen(values, self);
  boundaries = chosen(boundaries, sorted_sequence);
  dense_order = chosen(dense_order, order);
  const Tensor dense = result.is_contiguous() ? result : at::empty(result.sizes(), result.options());
  const Tensor no_order = at::empty({1}, boundaries.options().dtype(kLong));
  const auto size = static_cast<uint32_t>(boundaries.size(-1));
  const auto values_of_row = static_cast<uint32_t>(boundaries.dim() == 1 ? 0 : values.size(-1));
  auto function = lib.getKernelFunction("search_sorted_" + scalarToMetalTypeString(values.scalar_type()) +
                                        (out_int32 ? "_int" : "_long"));
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, dense);
    function->setArg(1, values);
    function->setArg(2, boundaries);
    function->setArg(3, dense_order.defined() ? dense_order : no_order);
    function->setArg(4, std::array<uint32_t, 2>{size, values_of_row});
    function->setArg(5, std::array<uint8_t, 2>{is_right, dense_order.defined()});
    function->dispatch(static_cast<uint64_t>(values.numel()));
  });
  if (!dense.is_same(result)) result.copy_(dense);
  return result;
}

Tensor& searchsorted_out_mps(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                             const std::optional<std::string_view> side, const std::optional<Tensor>& sorter,
                             Tensor& result) {
  return searchsorted_out_mps(sorted_sequence, searchsorted_scalar_tensor(self, sorted_sequence.device()), out_int32,
                              right, side, sorter, result);
}

Tensor searchsorted_mps(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                        const std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  Tensor result = at::empty({0}, self.options().dtype(out_int32 ? kInt : kLong));
  return searchsorted_out_mps(sorted_sequence, self, out_int32, right, side, sorter, result);
}

Tensor searchsorted_mps(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                        const std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  return searchsorted_mps(sorted_sequence, searchsorted_scalar_tensor(self, sorted_sequence.device()), out_int32, right,
                          side, sorter);
}

Tensor& bucketize_out_mps(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right, Tensor& result) {
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  return searchsorted_out_mps(boundaries, self, out_int32, right, std::nullopt, std::nullopt, result);
}

Tensor bucketize_mps(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  Tensor result = at::empty({0}, self.options().dtype(out_int32 ? kInt : kLong));
  return bucketize_out_mps(self, boundaries, out_int32, right, result);
}

Tensor bucketize_mps(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  return bucketize_mps(searchsorted_scalar_tensor(self, boundaries.device()), boundaries, out_int32, right);
}

std::tuple<Tensor, Tensor, Tensor> _unique2_mps(const Tensor& self, bool /*sorted*/, bool return_inverse,
                                                bool return_counts) {
  const auto [keys, indices] = sort_rows(self.reshape({-1}).contiguous(), false);
  auto [values, inverse, counts] = distinct(keys, indices, return_counts);
  return {values, return_inverse ? inverse.view(self.sizes()) : at::empty({0}, inverse.options()), counts};
}

std::tuple<Tensor, Tensor> _unique_mps(const Tensor& self, bool sorted, bool return_inverse) {
  auto [values, inverse, counts] = _unique2_mps(self, sorted, return_inverse, false);
  return {values, inverse};
}

}  // namespace at::native
