// Softmax and its logarithm, and their gradients.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_log_softmax_backward_data_native.h>
#include <ATen/ops/_log_softmax_native.h>
#include <ATen/ops/_softmax_backward_data_native.h>
#include <ATen/ops/_softmax_native.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <functional>
#include <string>

#include <ATen/native/mps/SoftMax_metallib.h>

#include "Reduction.h"

namespace at::native {
namespace {

using mps::scalarToMetalTypeString;

struct SoftMaxRows {
  int64_t dim_size = 1, inner_size = 1, count = 1, per_group = 1;
};

constexpr int64_t rows_shared_from = 64;      // from so many elements on, threads share a row
constexpr int64_t many_rows = 64;             // so many of a simdgroup each keep the device busy
constexpr int64_t elements_per_group = 2048;  // of short rows

void run_softmax(std::string name, const Tensor& input, const Tensor* output, int64_t dim, const Tensor& result) {
  if (result.numel() == 0) return;
  SoftMaxRows rows;
  if (input.dim() > 0) {
    dim = maybe_wrap_dim(dim, input.dim());
    rows.dim_size = input.size(dim);
    for (int64_t inner = dim + 1; inner < input.dim(); ++inner) rows.inner_size *= input.size(inner);
  }
  rows.count = input.numel() / rows.dim_size;
  const bool is_short = rows.dim_size < rows_shared_from;
  // A simdgroup has several short rows whose elements lie side by side. Rows that lie side by side themselves are read
  // at once by threads that have one each.
  const bool together = is_short && rows.inner_size == 1 && output == nullptr;
  const bool each = !together && (is_short || (rows.inner_size >= 32 && rows.count >= many_rows));
  rows.per_group = std::clamp<int64_t>(elements_per_group / rows.dim_size, 1, many_rows);
  const Tensor from = input.contiguous(), made = output ? output->contiguous() : from;
  const Tensor to = result.is_contiguous() ? result : at::empty(result.sizes(), result.options());
  name.reserve(48);
  name += together ? "_rows_" : each ? "_each_" : "_group_";
  name += scalarToMetalTypeString(to.scalar_type());
  name += '_';
  name += scalarToMetalTypeString(from.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(lib.hasFunction(name), "\"softmax_mps\" not implemented for '", from.scalar_type(), "'");
  auto* const kernel = lib.getCachedKernelFunctionPtr(name);
  const auto encode = [&] {
    kernel->startEncoding();
    unsigned index = 0;
    kernel->setArg(index++, from);
    if (output) kernel->setArg(index++, made);
    kernel->setArg(index++, to);
    kernel->setArg(index++, rows);
    if (each) {
      kernel->dispatch(rows.count);
    } else if (together) {
      kernel->dispatch((rows.count + rows.per_group - 1) / rows.per_group * 32, 32);
    } else {
      const int64_t threads =
          rows.count >= many_rows ? 32 : std::clamp<int64_t>((rows.dim_size / 8 + 31) / 32 * 32, 32, 256);
      kernel->dispatch(rows.count * threads, threads);
    }
  };
  kernel->runCommandBlock(std::ref(encode));
  if (!to.is_same(result)) result.copy_(to);
}

}  // namespace

TORCH_IMPL_FUNC(softmax_mps_out)(const Tensor& input, const int64_t dim, const bool, const Tensor& output) {
  run_softmax("softmax", input, nullptr, dim, output);
}

TORCH_IMPL_FUNC(log_softmax_mps_out)(const Tensor& input, const int64_t dim, const bool, const Tensor& output) {
  run_softmax("log_softmax", input, nullptr, dim, output);
}

TORCH_IMPL_FUNC(softmax_backward_mps_out)
(const Tensor& grad, const Tensor& output, int64_t dim, ScalarType, const Tensor& grad_input) {
  run_softmax("softmax_backward", grad, &output, dim, grad_input);
}

TORCH_IMPL_FUNC(log_softmax_backward_mps_out)
(const Tensor& grad, const Tensor& output, int64_t dim, ScalarType, const Tensor& grad_input) {
  run_softmax("log_softmax_backward", grad, &output, dim, grad_input);
}

}  // namespace at::native
