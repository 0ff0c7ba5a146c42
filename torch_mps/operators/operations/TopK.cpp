// topk: of rows, by TopK.metal, or the beginning of sorted ones.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include "Sorting.h"
#include "kernels.h"

#include <ATen/TensorMeta.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/topk_native.h>

#include <ATen/native/mps/TopK_metallib.h>

namespace at::native {

namespace mps {
std::string scalarToMetalTypeString(const c10::ScalarType& scalar_type);
}

namespace {

using namespace mps;

// As TopK.metal has it.
constexpr int64_t most_taken = 256;
struct TopParams {
  uint32_t size, count;
  bool largest;
};

bool top_of_rows(const Tensor& rows, int64_t k, bool largest, const Tensor& values, const Tensor& indices) {
  const int64_t size = rows.size(-1), count = rows.numel() / size;
  if (k > most_taken || size >= int64_t{1} << 31 || count >= int64_t{1} << 26) return false;
  const TopParams params{static_cast<uint32_t>(size), static_cast<uint32_t>(k), largest};
  const auto name = std::string("top_of_rows_") + scalarToMetalTypeString(rows.scalar_type());
  metalloid::operators::run(lib, name, {static_cast<uint64_t>(count) * 32, 1, 1}, {32, 1, 1}, values, rows, indices,
                            params);
  return true;
}

}  // namespace

TORCH_IMPL_FUNC(topk_out_mps)
(const Tensor& self, int64_t k, int64_t dim, bool largest, bool /*sorted*/, const Tensor& values,
 const Tensor& indices) {
  TORCH_CHECK(!self.is_complex(), "topk does not support complex dtypes");
  dim = at::maybe_wrap_dim(dim, self.dim(), /*wrap_scalar=*/true);
  if (self.dim() == 0) {
    values.copy_(self);
    Tensor(indices).zero_();
    return;
  }
  if (values.numel() == 0) return;
  const Tensor rows = rows_of(self, dim);
  auto sizes = rows.sizes().vec();
  sizes.back() = k;
  Tensor own_values = as_rows(values, self, dim), own_indices = as_rows(indices, self, dim);
  if (!own_values.defined()) own_values = at::empty(sizes, values.options());
  if (!own_indices.defined()) own_indices = at::empty(sizes, indices.options());
  if (!top_of_rows(rows, k, largest, own_values, own_indices)) {
    const auto sorted = sort_rows(rows, largest);
    own_values = sorted.first.narrow(-1, 0, k);
    own_indices = sorted.second.narrow(-1, 0, k);
  }
  copy_rows(values, own_values, dim);
  copy_rows(indices, own_indices, dim);
}

}  // namespace at::native
