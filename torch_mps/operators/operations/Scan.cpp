// Cumulative operators along one dimension.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/ReduceOps.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_cummax_helper_native.h>
#include <ATen/ops/_cummin_helper_native.h>
#include <ATen/ops/empty.h>

#include <string>

#include <ATen/native/mps/Scan_metallib.h>

#include "Reduction.h"

namespace at::native {
namespace {

using mps::scalarToMetalTypeString;

// As Scan.metal has it.
struct Rows {
  int64_t dim_size = 1, inner_size = 1;
};

// From so many elements on a simdgroup shares a row, unless threads that have one each read side by side.
constexpr int64_t shared_size = 64;
constexpr int64_t many_rows = 1024;

Tensor contiguous_or_new(const Tensor& result) {
  return result.is_contiguous() ? result : at::empty(result.sizes(), result.options());
}

void scan(std::string name, const Tensor& input, int64_t dim, const Tensor& result, const Tensor& indices = {}) {
  if (input.numel() == 0) return;
  const std::string operator_name = name;
  Rows rows;
  if (input.dim() > 0) {
    dim = maybe_wrap_dim(dim, input.dim());
    rows.dim_size = input.size(dim);
    for (int64_t inner = dim + 1; inner < input.dim(); ++inner) rows.inner_size *= input.size(inner);
  }
  const int64_t count = input.numel() / rows.dim_size;
  const bool each = rows.dim_size < shared_size || (rows.inner_size >= 32 && count >= many_rows);
  const Tensor from = input.contiguous(), to = contiguous_or_new(result);
  const Tensor places = indices.defined() ? contiguous_or_new(indices) : indices;
  name += (each ? "_each_" : "_group_") + scalarToMetalTypeString(from.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(lib.hasFunction(name), "\"", operator_name, "_mps\" not implemented for '",
                              from.scalar_type(), "'");
  const auto kernel = lib.getKernelFunction(name);
  kernel->runCommandBlock([&] {
    kernel->startEncoding();
    kernel->setArg(0, from);
    kernel->setArg(1, to);
    kernel->setArg(2, rows);
    if (places.defined()) kernel->setArg(3, places);
    if (each) {
      kernel->dispatch(count);
    } else {
      kernel->dispatch(count * 32, 32);
    }
  });
  if (!to.is_same(result)) result.copy_(to);
  if (places.defined() && !places.is_same(indices)) indices.copy_(places);
}

void cumsum(const Tensor& result, const Tensor& input, int64_t dim) { scan("cumsum", input, dim, result); }
void cumprod(const Tensor& result, const Tensor& input, int64_t dim) { scan("cumprod", input, dim, result); }

}  // namespace

REGISTER_MPS_DISPATCH(cumsum_stub, &cumsum)
REGISTER_MPS_DISPATCH(cumprod_stub, &cumprod)

void cummax_helper_mps(const Tensor& self, Tensor& values, Tensor& indices, int64_t dim) {
  scan("cummax", self, dim, values, indices);
}

void cummin_helper_mps(const Tensor& self, Tensor& values, Tensor& indices, int64_t dim) {
  scan("cummin", self, dim, values, indices);
}

}  // namespace at::native
