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
#include <string>

#include <ATen/native/mps/SoftMax_metallib.h>

#include "Reduction.h"

namespace at::native {
namespace {

using mps::scalarToMetalTypeString;

struct SoftMaxRows {
  int64_t dim_size = 1, inner_size = 1;
};

constexpr int64_t rows_shared_from = 64;  // from so many elements on, threads share a row
constexpr int64_t many_rows = 64;         // so many of a simdgroup each keep the device busy

void run_softmax(std::string name, const Tensor& input, const Tensor* output, int64_t dim, const Tensor& result) {
  if (result.numel() == 0) return;
  SoftMaxRows rows;
  if (input.dim() > 0) {
    dim = maybe_wrap_dim(dim, input.dim());
    rows.dim_size = input.size(dim);
    for (int64_t inner = dim + 1; inner < input.dim(); ++inner) rows.inner_size *= input.size(inner);
  }
  const int64_t count = input.numel() / rows.dim_size;
  // Rows whose elements lie side by side are read at once by threads that have one each.
  const bool each = rows.dim_size < rows_shared_from || (rows.inner_size >= 32 && count >= many_rows);
  const Tensor from = input.contiguous(), made = output ? output->contiguous() : from;
  const Tensor to = result.is_contiguous() ? result : at::empty(result.sizes(), result.options());
  name += (each ? "_each_" : "_group_") + scalarToMetalTypeString(to.scalar_type()) + "_" +
          scalarToMetalTypeString(from.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(lib.hasFunction(name), "\"softmax_mps\" not implemented for '", from.scalar_type(), "'");
  const auto kernel = lib.getKernelFunction(name);
  kernel->runCommandBlock([&] {
    kernel->startEncoding();
    unsigned index = 0;
    kernel->setArg(index++, from);
    if (output) kernel->setArg(index++, made);
    kernel->setArg(index++, to);
    kernel->setArg(index++, rows);
    if (each) {
      kernel->dispatch(count);
    } else {
      const int64_t threads =
          count >= many_rows ? 32 : std::clamp<int64_t>((rows.dim_size / 8 + 31) / 32 * 32, 32, 256);
      kernel->dispatch(count * threads, threads);
    }
  });
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
