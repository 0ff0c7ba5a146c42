// nonzero, masked_select, masked_scatter_, repeat_interleave, tril_indices, cat, bincount, backward of embedding.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TensorMeta.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/bincount_native.h>
#include <ATen/ops/cat_native.h>
#include <ATen/ops/embedding_dense_backward_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/masked_scatter_native.h>
#include <ATen/ops/masked_select_native.h>
#include <ATen/ops/nonzero_native.h>
#include <ATen/ops/nonzero_static_native.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/repeat_interleave_native.h>
#include <ATen/ops/tril_indices_native.h>
#include <ATen/ops/triu_indices_native.h>
#include <ATen/ops/zeros.h>

#include <ATen/native/mps/Selection_metallib.h>

#include "Indexing.h"

namespace at::native {
namespace mps {

#ifndef PYTORCH_JIT_COMPILE_SHADERS
static auto& lib = MetalShaderLibrary::getBundledLibrary();
#else
#endif

std::string scalarToMetalTypeString(const c10::ScalarType& scalar_type);

static constexpr int64_t chunk_length = 256;  // of Selection.metal

// The number of set elements before each chunk, and behind them all the number of all.
static Tensor first_numbers(const Tensor& dense) {
  const int64_t numel = dense.numel();
  const auto chunks = c10::checked_convert<uint32_t>((numel + chunk_length - 1) / chunk_length, "uint32_t");
  Tensor counts = at::empty({chunks + int64_t{1}}, dense.options().dtype(kLong));
  auto count = lib.getKernelFunction("count_set_" + scalarToMetalTypeString(dense.scalar_type()));
  count->runCommandBlock([&] {
    count->startEncoding();
    count->setArg(0, dense);
    count->setArg(1, counts);
    count->setArg(2, numel);
    count->dispatch(chunks);
  });
  auto sum = lib.getKernelFunction("sum_before");
  const uint64_t threads = std::min<uint64_t>({chunks, 1024, sum->getMaxThreadsPerThreadgroup()});
  sum->runCommandBlock([&] {
    sum->startEncoding();
    sum->setArg(0, counts);
    sum->setArg(1, chunks);
    sum->dispatch(threads, threads);
  });
  return counts;
}

// Rows of coordinates of the first set elements into `result`, which is dense.
static void write_nonzero(const Tensor& dense, const Tensor& firsts, const Tensor& result) {
  if (result.numel() == 0) return;
  auto function = lib.getKernelFunction("write_nonzero_" + scalarToMetalTypeString(dense.scalar_type()));
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, dense);
    function->setArg(1, firsts);
    function->setArg(2, result);
    function->setArg(3, dense.sizes());
    function->setArg(4, std::array<int64_t, 4>{dense.numel(), dense.dim(), result.size(0), 0});
    function->dispatch(static_cast<uint64_t>(firsts.numel() - 1));
  });
}

static Tensor triangle_indices(int64_t rows, int64_t columns, int64_t offset, bool upper,
                               std::optional<ScalarType> dtype, std::optional<Layout> layout,
                               std::optional<Device> device, std::optional<bool> pin_memory) {
  TORCH_CHECK(rows >= 0, "row must be non-negative, got", rows);
  TORCH_CHECK(columns >= 0, "col must be non-negative, got", columns);
  TORCH_CHECK(!layout || *layout == kStrided, "only support layout=torch.strided, got", *layout);
  int64_t lower = 0;
  const int64_t cut = upper ? offset - 1 : offset;  // of the lower triangle
  for (int64_t row = 0; row < rows; ++row) lower += std::clamp<int64_t>(row + cut + 1, 0, columns);
  const int64_t count = upper ? rows * columns - lower : lower;
  Tensor result = at::empty({2, count}, dtype.value_or(kLong), layout, device, pin_memory, std::nullopt);
  if (count == 0) return result;
  auto function = lib.getKernelFunction("triangle_indices_" + scalarToMetalTypeString(result.scalar_type()));
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, result);
    function->setArg(1, std::array<int64_t, 4>{columns, cut, count, upper});
    function->setArg(2, rows);
    function->dispatch(static_cast<uint64_t>(rows));
  });
  return result;
}

}  // namespace mps

using namespace mps;

Tensor& nonzero_out_mps(const Tensor& self, Tensor& out) {
  TORCH_CHECK(self.dim() < 16, "nonzero is not supported for tensors with more than 16 dimensions");
  TORCH_CHECK(out.scalar_type() == kLong, "nonzero: Expected out tensor to have scalar type ", kLong,
              " but got scalar type", out.scalar_type());
  TORCH_CHECK(self.device() == out.device(), "expected self and out to be on the same device, but got out on ",
              out.device(), " and self on ", self.device());
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  if (self.numel() == 0) {
    resize_output(out, {0, self.dim()});
    return out;
  }
  const Tensor dense = self.contiguous(), firsts = first_numbers(dense);
  const int64_t count = firsts[-1].item<int64_t>();
  resize_output(out, {count, self.dim()});
  if (self.dim() == 0 || count == 0) return out;
  const Tensor rows = out.is_contiguous() ? out : at::empty(out.sizes(), out.options());
  write_nonzero(dense, firsts, rows);
  if (!rows.is_same(out)) out.copy_(rows);
  return out;
}

Tensor nonzero_mps(const Tensor& self) {
  Tensor out = at::empty({0}, self.options().dtype(kLong));
  return nonzero_out_mps(self, out);
}

Tensor& nonzero_static_out_mps(const Tensor& self, int64_t size, int64_t fill_value, Tensor& out) {
  TORCH_CHECK(out.scalar_type() == kLong, "nonzero_static: Expected out tensor to have scalar type ", kLong,
              " but got scalar type", out.scalar_type());
  TORCH_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  resize_output(out, {size, self.dim()});
  if (self.dim() == 0 || size == 0) return out;
  Tensor rows = at::full(out.sizes(), fill_value, out.options());
  if (self.numel() != 0) {
    const Tensor dense = self.contiguous();
    write_nonzero(dense, first_numbers(dense), rows);
  }
  out.copy_(rows);
  return out;
}

Tensor nonzero_static_mps(const Tensor& self, int64_t size, int64_t fill_value) {
  TORCH_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer");
  Tensor out = at::empty({size, self.dim()}, self.options().dtype(kLong));
  return nonzero_static_out_mps(self, size, fill_value, out);
}

Tensor& masked_select_out_mps(const Tensor& self, const Tensor& mask, Tensor& out) {
  TORCH_CHECK(mask.scalar_type() == kBool, "masked_select: expected BoolTensor for mask");
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "masked_select(): self and result must have the same scalar type");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, mask);
  const Tensor one_mask = mask.dim() == 0 ? mask.unsqueeze(0) : mask,
               one_self = self.dim() == 0 ? self.unsqueeze(0) : self;
  const auto [wide_mask, wide_self] = expand_outplace(one_mask, one_self);
  const Tensor places = nonzero_mps(wide_mask->reshape({-1})).view({-1});
  const Tensor selected = wide_self->take(places);
  resize_output(out, selected.sizes());
  out.copy_(selected);
  return out;
}

Tensor masked_select_mps(const Tensor& self, const Tensor& mask) {
  Tensor out = at::empty({0}, self.options());
  return masked_select_out_mps(self, mask, out);
}

Tensor& masked_scatter__mps(Tensor& self, const Tensor& mask, const Tensor& source) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "masked_scatter: expected self and source to have same dtypes but got", self.scalar_type(), " and ",
              source.scalar_type());
  TORCH_CHECK(mask.scalar_type() == kBool, "masked_scatter_ only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
  TORCH_CHECK(self.device() == mask.device() && self.device() == source.device(),
              "masked_scatter: expected self, mask and source ", "to be on the same device");
  if (self.numel() == 0) return self;
  const Tensor wide = mask.expand(self.sizes()).contiguous(), values = source.contiguous();
  const Tensor firsts = first_numbers(wide);
  const int64_t count = firsts[-1].item<int64_t>();
  TORCH_CHECK(count <= source.numel(),
              "masked_scatter: expected the number of elements in source to be at least the number of ones in mask");
  if (count == 0) return self;
  const Tensor dense = self.contiguous();
  auto function = lib.getKernelFunction("masked_scatter_" + indexing::size_name(self));
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, dense);
    function->setArg(1, wide);
    function->setArg(2, values);
    function->setArg(3, firsts);
    function->setArg(4, self.numel());
    function->dispatch(static_cast<uint64_t>(firsts.numel() - 1));
  });
  if (!dense.is_same(self)) self.copy_(dense);
  return self;
}

Tensor repeat_interleave_mps(const Tensor& repeats, std::optional<int64_t> output_size) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  const auto type = repeats.scalar_type();
  TORCH_CHECK(type == kLong || type == kInt || type == kShort || type == kChar || type == kByte,
              "repeats has to be Long, Int, Short, Char, or Byte tensor");
  if (repeats.size(0) == 0) return at::empty(repeats.sizes(), repeats.options());
  const Tensor dense = repeats.contiguous(), ends = dense.cumsum(0, kLong);
  int64_t total = 0;
  if (output_size.has_value()) {
    total = *output_size;
  } else {
    total = ends[-1].item<int64_t>();
    TORCH_CHECK(repeats.min().item<int64_t>() >= 0, "repeats can not be negative");
  }
  Tensor result = at::empty({total}, repeats.options());
  if (total == 0) return result;
  auto function = lib.getKernelFunction("repeat_interleave_" + scalarToMetalTypeString(type));
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, result);
    function->setArg(1, dense);
    function->setArg(2, ends);
    function->setArg(3, total);
    function->setErrorBufferIndex(4);
    function->dispatch(static_cast<uint64_t>(dense.numel()));
  });
  return result;
}

Tensor tril_indices_mps(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                        std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return triangle_indices(row, col, offset, false, dtype, layout, device, pin_memory);
}

Tensor triu_indices_mps(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                        std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return triangle_indices(row, col, offset, true, dtype, layout, device, pin_memory);
}

Tensor _bincount_mps(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  TORCH_CHECK(c10::isIntegralType(self.scalar_type(), true),
              "bincount only supports 1-d non-negative integral inputs.");
  TORCH_CHECK(minlength >= 0, "minlength should be >= 0");
  const bool has_weights = weights.has_value() && weights->defined();
  // As on a Mac: whole weights are added in 32 bits, where the CPU has float64.
  const auto type = !has_weights ? kLong : weights->is_floating_point() ? weights->scalar_type() : kInt;
  if (self.dim() == 1 && self.numel() == 0) return at::zeros({minlength}, self.options().dtype(type));
  TORCH_CHECK(self.dim() == 1 && self.min().item<int64_t>() >= 0,
              "bincount only supports 1-d non-negative integral inputs.");
  TORCH_CHECK(!has_weights || (weights->dim() == 1 && weights->size(0) == self.size(0)),
              "weights should be 1-d and have the same length as input");
  const int64_t bins = std::max(self.max().item<int64_t>() + 1, minlength);
  Tensor result = at::zeros({bins}, self.options().dtype(type));
  const Tensor index = self.to(kLong);
  const Tensor ones = has_weights ? weights->to(type) : at::ones({1}, result.options()).expand(self.sizes());
  indexing::add_along_dim(result, ones, index, 0, index.sizes(), index.strides());
  return result;
}

Tensor embedding_dense_backward_mps(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                                    bool scale_grad_by_freq) {
  TORCH_CHECK(
      indices.scalar_type() == kLong || indices.scalar_type() == kInt,
      "Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got ",
      indices.toString(), " instead (while checking arguments for embedding_backward)");
  const int64_t features = grad.size(-1);
  Tensor sums = at::zeros({num_weights, features}, grad.options().dtype(kFloat));
  if (indices.numel() != 0 && features != 0) {
    const Tensor dense = grad.contiguous(), index = indices.contiguous();
    Tensor counts = at::zeros({scale_grad_by_freq ? num_weights : 1}, grad.options().dtype(kInt));
    const auto index_name = indexing::index_name(index);
    if (scale_grad_by_freq) {
      auto count = lib.getKernelFunction("count_indices_" + index_name);
      count->runCommandBlock([&] {
        count->startEncoding();
        count->setArg(0, counts);
        count->setArg(1, index);
        count->setArg(2, std::array<int64_t, 2>{num_weights, padding_idx});
        count->dispatch(static_cast<uint64_t>(index.numel()));
      });
    }
    auto function =
        lib.getKernelFunction("embedding_backward_" + scalarToMetalTypeString(grad.scalar_type()) + "_" + index_name);
    function->runCommandBlock([&] {
      function->startEncoding();
      function->setArg(0, sums);
      function->setArg(1, dense);
      function->setArg(2, index);
      function->setArg(3, counts);
      function->setArg(4, std::array<int64_t, 4>{features, num_weights, padding_idx, scale_grad_by_freq});
      function->setErrorBufferIndex(5);
      const std::array<uint64_t, 2> grid = {static_cast<uint64_t>(features), static_cast<uint64_t>(index.numel())};
      function->dispatch(grid);
    });
  }
  return sums.to(grad.scalar_type());
}

TORCH_IMPL_FUNC(cat_out_mps)
(const ITensorListRef& tensors, int64_t dim, int64_t /*valid*/, bool /*all_contiguous*/, bool /*all_same_dtype*/,
 bool /*all_same_sizes_and_stride*/, MemoryFormat /*memory_format*/, const Tensor& out) {
  if (out.numel() == 0) return;
  int64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() == 1 && tensor.size(0) == 0) continue;  // of any shape, by tradition
    const int64_t size = tensor.size(dim);
    if (tensor.numel() != 0) {
      const Tensor part = out.narrow(dim, offset, size);
      const Tensor source = tensor.to(out.scalar_type());
      auto iter = TensorIteratorConfig()
                      .set_check_mem_overlap(false)
                      .resize_outputs(false)
                      .add_output(part)
                      .add_const_input(source)
                      .build();
      indexing::strided_copy(iter);
    }
    offset += size;
  }
}

}  // namespace at::native
