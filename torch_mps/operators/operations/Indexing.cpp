// index.Tensor, index_put_, index_copy, index_fill_, take, put_, flip; and launches that other files share
// (Indexing.h).
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include "Indexing.h"
#include "kernels.h"

#include <ATen/core/Tensor.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/full.h>

#include <ATen/native/mps/Indexing_metallib.h>

namespace at::native {
namespace mps {

#ifndef PYTORCH_JIT_COMPILE_SHADERS
static auto& lib = MetalShaderLibrary::getBundledLibrary();
#else
#endif

std::string scalarToMetalTypeString(const c10::ScalarType& scalar_type);

namespace indexing {

std::string size_name(const TensorBase& tensor) {
  TORCH_CHECK_TYPE(tensor.element_size() <= 8, "Trying to convert ", tensor.scalar_type(),
                   " to the MPS backend but it does not have support for that dtype.");
  return std::to_string(tensor.element_size());
}

std::string index_name(const TensorBase& index) { return index.scalar_type() == kInt ? "int" : "long"; }

void check_dims(int64_t dims) {
  TORCH_CHECK(dims <= most_dims, "MPS supports tensors of up to ", most_dims, " dimensions");
}

c10::SmallVector<int64_t, 5> strides_of_vector(const TensorBase& index, int64_t dim, size_t ndim) {
  c10::SmallVector<int64_t, 5> strides(std::max<size_t>(ndim, 1), 0);
  strides[dim] = index.dim() == 0 ? 0 : index.stride(0);
  return strides;
}

static int64_t stride_of(const TensorBase& tensor, int64_t dim) { return tensor.dim() == 0 ? 0 : tensor.stride(dim); }

template <typename Params>
static void bind(MetalKernelFunction& function, Direction direction, const TensorBase& indexed, const TensorBase& other,
                 const TensorBase& index, const Params& params) {
  function.startEncoding();
  function.setArg(0, direction == Direction::from_indexed ? other : indexed);
  function.setArg(1, direction == Direction::from_indexed ? indexed : other);
  function.setArg(2, index);
  function.setArg(3, params);
  function.setErrorBufferIndex(4);
}

void along_dim(const std::string& kernel, Direction direction, const TensorBase& indexed, const TensorBase& other,
               const TensorBase& index, int64_t dim, IntArrayRef sizes, IntArrayRef index_strides, bool wraps,
               bool one_thread_along_dim) {
  check_dims(sizes.size());
  AlongDim params;
  params.ndim = std::max<size_t>(sizes.size(), 1);
  params.dim = dim;
  params.dim_size = indexed.dim() == 0 ? 1 : indexed.size(dim);
  params.wraps = wraps;
  uint64_t threads = 1;
  for (size_t i = 0; i < params.ndim; ++i) {
    params.sizes[i] = sizes.empty() ? 1 : sizes[i];
    params.indexed_strides[i] = stride_of(indexed, i);
    params.other_strides[i] = stride_of(other, i);
    params.index_strides[i] = index_strides.empty() ? 0 : index_strides[i];
    if (params.sizes[i] == 0) return;
    if (static_cast<int64_t>(i) != dim || !one_thread_along_dim) threads *= params.sizes[i];
  }
  auto function = lib.getKernelFunction(kernel);
  function->runCommandBlock([&] {
    bind(*function, direction, indexed, other, index, params);
    function->dispatch(threads);
  });
}

bool along_lines(const std::string& kernel, Direction direction, const TensorBase& indexed, const TensorBase& other,
                 const TensorBase& index, int64_t dim) {
  constexpr int64_t least = 32;
  constexpr uint64_t most_offset = std::numeric_limits<uint32_t>::max();
  struct Lines {
    uint32_t dim = 3, numbered, indexed_strides[3] = {}, other_strides[3] = {}, index_strides[3] = {};
    int64_t dim_size;
  } params;
  if (indexed.dim() != index.dim() || other.dim() != index.dim()) return false;  // of single elements
  params.numbered = static_cast<uint32_t>(dim);
  std::array<uint64_t, 3> threads = {1, 1, 1};
  uint32_t count = 0;
  uint64_t last_indexed = 0, last_other = 0, last_index = 0;
  for (int64_t i = index.dim(); i-- > 0;) {
    const auto size = static_cast<uint64_t>(index.size(i));
    const bool is_dim = i == dim;
    if (size == 1 && !is_dim) continue;
    last_indexed += (is_dim ? indexed.size(i) - 1 : size - 1) * indexed.stride(i);
    last_other += (size - 1) * other.stride(i);
    last_index += (size - 1) * index.stride(i);
    if (std::max({last_indexed, last_other, last_index}) > most_offset) return false;
    const auto last = count - 1;  // the dimension that this one may go on with
    if (count > 0 && !is_dim && params.dim != last &&
        indexed.stride(i) == params.indexed_strides[last] * threads[last] &&
        other.stride(i) == params.other_strides[last] * threads[last] &&
        index.stride(i) == params.index_strides[last] * threads[last]) {
      threads[last] *= size;
      continue;
    }
    if (count == 3) return false;
    if (is_dim) params.dim = count;
    threads[count] = size;
    params.indexed_strides[count] = static_cast<uint32_t>(indexed.stride(i));
    params.other_strides[count] = static_cast<uint32_t>(other.stride(i));
    params.index_strides[count++] = static_cast<uint32_t>(index.stride(i));
  }
  if (params.dim == 3 || threads[0] < least || params.other_strides[0] != 1 || params.index_strides[0] != 1 ||
      threads[0] * threads[1] * threads[2] > most_offset) {
    return false;
  }
  params.dim_size = indexed.size(dim);
  // Rows that are read at least every eighth element of: whole, by a simdgroup.
  constexpr int64_t row_bytes = 16384;  // of Indexing.metal
  const bool in_rows = direction == Direction::from_indexed && params.dim == 0 && params.indexed_strides[0] == 1 &&
                       params.dim_size * static_cast<int64_t>(indexed.element_size()) <= row_bytes &&
                       threads[0] * 8 >= static_cast<uint64_t>(params.dim_size);
  auto function =
      lib.getKernelFunction((in_rows ? "gather_in_rows_" : kernel) + size_name(indexed) + "_" + index_name(index));
  function->runCommandBlock([&] {
    bind(*function, direction, indexed, other, index, params);
    if (in_rows) {
      function->setArg(5, static_cast<uint32_t>(threads[0]));
      const std::array<uint64_t, 3> rows = {32, threads[1], threads[2]}, simdgroup = {32, 1, 1};
      function->dispatch(rows, c10::OptionalArrayRef<uint64_t>(simdgroup));
      return;
    }
    const uint64_t width = std::min<uint64_t>((threads[0] + 31) / 32 * 32, 256);
    const std::array<uint64_t, 3> group = {width, std::min(threads[1], 256 / width), 1};
    function->dispatch(threads, c10::OptionalArrayRef<uint64_t>(group));
  });
  return true;
}

bool gather_rows(const TensorBase& indexed, const TensorBase& other, const TensorBase& index, int64_t dim) {
  struct RowsOfDim {
    uint32_t dim, inner, count;
    int64_t size, index_stride;
  };
  if (indexed.dim() == 0 || !indexed.is_contiguous() || !other.is_contiguous() || other.numel() >= int64_t{1} << 31) {
    return false;
  }
  uint64_t inner = 1, outer = 1;
  for (int64_t i = 0; i < indexed.dim(); ++i) (i < dim ? outer : inner) *= i == dim ? 1 : indexed.size(i);
  if (inner < 32 || outer >= 1 << 16) return false;
  const auto count = static_cast<uint64_t>(index.numel());
  const RowsOfDim params{static_cast<uint32_t>(dim), static_cast<uint32_t>(inner), static_cast<uint32_t>(count),
                         indexed.size(dim), index.dim() == 0 ? 0 : index.stride(0)};
  auto function = lib.getKernelFunction("gather_rows_" + size_name(indexed) + "_" + index_name(index));
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, other);
    function->setArg(1, indexed);
    function->setArg(2, index);
    function->setArg(3, params);
    function->setErrorBufferIndex(4);
    constexpr uint64_t columns = 1024, rows = 4;  // of a simdgroup, as Indexing.metal has them
    const std::array<uint64_t, 3> threads = {(inner + columns - 1) / columns * 32, (count + rows - 1) / rows, outer};
    const std::array<uint64_t, 3> group = {32, 1, 1};
    function->dispatch(threads, c10::OptionalArrayRef<uint64_t>(group));
  });
  return true;
}

// What sums are made in: at least 4 bytes, float for the short ones.
static ScalarType sum_type(ScalarType type) {
  if (type == kHalf || type == kBFloat16) return kFloat;
  return type == kShort || type == kChar || type == kByte || type == kBool ? kInt : type;
}

// "half_float": of an element and of the sum that it goes into.
static std::string name_of_sum(ScalarType type) {
  return scalarToMetalTypeString(type) + "_" + scalarToMetalTypeString(sum_type(type));
}

// Whole rows, if one index counts for all elements of a row.
static bool add_rows(const TensorBase& sum, const TensorBase& source, const TensorBase& index, int64_t dim,
                     IntArrayRef sizes, IntArrayRef index_strides, const std::string& types) {
  constexpr uint64_t least = 32, most_columns = 1024, groups = 32;
  struct AddedRows {
    uint32_t dim, inner, count, chunk, parts = 1;
    int64_t size, index_stride;
  } params;
  if (sum.dim() == 0 || !sum.is_contiguous() || !source.is_contiguous() || sizes != source.sizes() ||
      sizes.size() != static_cast<size_t>(sum.dim())) {
    return false;
  }
  uint64_t inner = 1, outer = 1;
  for (int64_t i = 0; i < sum.dim(); ++i) {
    if (i == dim) continue;
    if (sizes[i] != sum.size(i) || (sizes[i] != 1 && index_strides[i] != 0)) return false;
    (i < dim ? outer : inner) *= static_cast<uint64_t>(sizes[i]);
  }
  if (inner < least || outer >= 1 << 16 || std::max(inner, static_cast<uint64_t>(sizes[dim])) >= 1U << 31) return false;
  params.dim = static_cast<uint32_t>(dim);
  params.inner = static_cast<uint32_t>(inner);
  params.count = static_cast<uint32_t>(sizes[dim]);
  params.chunk = most_columns;
  const uint64_t chunks = (inner + most_columns - 1) / most_columns;
  while (params.parts * chunks * outer < groups) params.parts *= 2;
  params.size = sum.size(dim);
  params.index_stride = index_strides[dim];
  auto function = lib.getKernelFunction("add_rows_" + types);
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, sum);
    function->setArg(1, source);
    function->setArg(2, index);
    function->setArg(3, params);
    function->setErrorBufferIndex(4);
    const std::array<uint64_t, 3> threads = {chunks * 32, params.parts, outer}, group = {32, 1, 1};
    function->dispatch(threads, c10::OptionalArrayRef<uint64_t>(group));
  });
  return true;
}

void add_along_dim(const TensorBase& indexed, const TensorBase& source, const TensorBase& index, int64_t dim,
                   IntArrayRef sizes, IntArrayRef index_strides) {
  const auto type = indexed.scalar_type();
  const Tensor self(indexed), sum = self.to(sum_type(type));
  const auto types = name_of_sum(type) + "_" + index_name(index);
  const bool done = add_rows(sum, source, index, dim, sizes, index_strides, types);
  if (!done) along_dim("scatter_add_" + types, Direction::to_indexed, sum, source, index, dim, sizes, index_strides);
  if (!sum.is_same(self)) self.copy_(sum);
}

// Where the iterator begins in the tensor, which may not be its first element if strides are negative.
static int64_t base_of(const TensorIteratorBase& iter, int operand) {
  return static_cast<const char*>(iter.data_ptr(operand)) -
         static_cast<const char*>(iter.tensor_base(operand).const_data_ptr());
}

void strided_copy(TensorIteratorBase& iter) {
  if (metalloid::operators::move(iter)) return;
  if (iter.numel() == 0) return;
  const bool is_scalar = iter.ndim() == 0;
  const int64_t one = 1, zero = 0;
  const IntArrayRef sizes = is_scalar ? IntArrayRef(one) : iter.shape();
  const std::array<int64_t, 2> bases = {base_of(iter, 0), base_of(iter, 1)};
  auto function = lib.getKernelFunction("strided_copy_" + size_name(iter.tensor_base(0)));
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, iter.tensor_base(0));
    function->setArg(1, iter.tensor_base(1));
    function->setArg(2, sizes);
    function->setArg(3, is_scalar ? IntArrayRef(zero) : IntArrayRef(iter.strides(0)));
    function->setArg(4, is_scalar ? IntArrayRef(zero) : IntArrayRef(iter.strides(1)));
    function->setArg(5, bases);
    function->setArg(6, static_cast<uint32_t>(sizes.size()));
    function->dispatch(static_cast<uint64_t>(iter.numel()));
  });
}

}  // namespace indexing
}  // namespace mps

namespace {

using namespace mps;
using namespace mps::indexing;

// Operands of the iterator: the first two as the kernel takes them, indices from `first_index` on.
void by_tensors(const std::string& kernel, const TensorIteratorBase& iter, int indexed, int other, int first_index,
                const TensorBase* filler, IntArrayRef indexed_sizes, IntArrayRef indexed_strides, bool wraps,
                const TensorBase* sums = nullptr) {
  if (iter.numel() == 0) return;
  check_dims(iter.ndim());
  ByTensors params;
  params.ndim = iter.ndim();
  params.count = indexed_sizes.size();
  params.wraps = wraps;
  std::array<void*, most_dims> table = {};
  for (int dim = 0; dim < iter.ndim(); ++dim) {
    params.sizes[dim] = iter.shape()[dim];
    params.indexed_strides[dim] = iter.strides(indexed)[dim];
    params.other_strides[dim] = filler ? 0 : iter.strides(other)[dim];
    for (unsigned k = 0; k < params.count; ++k) {
      params.index_strides[k * most_dims + dim] = iter.strides(first_index + static_cast<int>(k))[dim];
    }
  }
  for (unsigned k = 0; k < params.count; ++k) {
    params.indexed_sizes[k] = indexed_sizes[k];
    params.strides_of_dims[k] = indexed_strides[k];
    const int operand = first_index + static_cast<int>(k);
    table[k] = static_cast<char*>(get_tensor_gpu_address(iter.tensor_base(operand))) + base_of(iter, operand);
  }
  if (sums) {  // in the place of the indexed tensor, with elements of another size
    const auto scale = [&](int64_t& stride) { stride = stride / iter.element_size(indexed) * sums->element_size(); };
    for (auto& stride : params.indexed_strides) scale(stride);
    for (auto& stride : params.strides_of_dims) scale(stride);
  }
  const TensorBase& a = sums ? *sums : iter.tensor_base(0);
  const TensorBase& b = filler ? *filler : iter.tensor_base(indexed == 0 ? other : indexed);
  auto function = lib.getKernelFunction(kernel);
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, a);
    function->setArg(1, b);
    function->setArg(2, table);
    function->setArg(3, params);
    function->setErrorBufferIndex(4);
    function->dispatch(static_cast<uint64_t>(iter.numel()));
  });
}

void index_kernel(TensorIteratorBase& iter, IntArrayRef sizes, IntArrayRef strides) {
  by_tensors("index_get_" + size_name(iter.tensor_base(0)), iter, 1, 0, 2, nullptr, sizes, strides, true);
}

void index_put_kernel(TensorIterator& iter, IntArrayRef sizes, IntArrayRef strides, bool accumulate) {
  const Tensor self(iter.tensor_base(0));
  if (!accumulate) {
    by_tensors("index_put_" + size_name(self), iter, 0, 1, 2, nullptr, sizes, strides, true);
    return;
  }
  const auto kernel = "index_put_accumulate_" + name_of_sum(self.scalar_type());
  if (sum_type(self.scalar_type()) == self.scalar_type()) {
    by_tensors(kernel, iter, 0, 1, 2, nullptr, sizes, strides, true);
    return;
  }
  // All memory that indices reach. The iterator's tensor has no strides along indexed dimensions.
  int64_t last = 0;
  for (int dim = 0; dim < iter.ndim(); ++dim) last += (iter.shape()[dim] - 1) * iter.strides(0)[dim];
  for (size_t k = 0; k < sizes.size(); ++k) last += std::max<int64_t>(sizes[k] - 1, 0) * strides[k];
  if (iter.numel() == 0) return;
  const Tensor memory = self.as_strided({last / iter.element_size(0) + 1}, {1}, self.storage_offset());
  const Tensor sums = memory.to(sum_type(self.scalar_type()));
  by_tensors(kernel, iter, 0, 1, 2, nullptr, sizes, strides, true, &sums);
  memory.copy_(sums);
}

void index_copy_kernel(TensorIterator& iter, int64_t /*dim*/, int64_t dim_size, int64_t dim_stride) {
  const int64_t stride = dim_stride * iter.element_size(0);
  by_tensors("index_put_" + size_name(iter.tensor_base(0)), iter, 0, 2, 1, nullptr, dim_size, stride, false);
}

void index_fill_kernel(TensorIterator& iter, int64_t /*dim*/, int64_t dim_size, int64_t dim_stride,
                       const Scalar& value) {
  if (iter.numel() == 0) return;
  const auto& self = iter.tensor_base(0);
  const int64_t stride = dim_stride * iter.element_size(0);
  const Tensor filler = at::full({}, value, self.options());
  by_tensors("index_put_" + size_name(self), iter, 0, 0, 1, &filler, dim_size, stride, true);
}

void in_elements(const std::string& kernel, const TensorBase& flat, const TensorBase& elements, const TensorBase& index,
                 bool reads) {
  if (index.numel() == 0) return;
  check_dims(flat.dim());
  InElements params;
  params.ndim = flat.dim();
  params.numel = flat.numel();
  for (int64_t dim = 0; dim < flat.dim(); ++dim) {
    params.sizes[dim] = flat.size(dim);
    params.strides[dim] = flat.stride(dim);
  }
  auto function = lib.getKernelFunction(kernel);
  function->runCommandBlock([&] {
    function->startEncoding();
    function->setArg(0, reads ? elements : flat);
    function->setArg(1, reads ? flat : elements);
    function->setArg(2, index);
    function->setArg(3, params);
    function->setErrorBufferIndex(4);
    function->dispatch(static_cast<uint64_t>(index.numel()));
  });
}

void take_kernel(TensorIterator& iter, const TensorBase& input) {
  const Tensor result(iter.tensor_base(0)), index = Tensor(iter.tensor_base(1)).contiguous();
  const Tensor dense = result.contiguous();
  in_elements("take_" + size_name(input), input, dense, index, true);
  if (!dense.is_same(result)) result.copy_(dense);
}

void put_kernel(TensorIterator& iter, const TensorBase& self, const bool accumulate) {
  const Tensor source = Tensor(iter.tensor_base(0)).contiguous(), index = Tensor(iter.tensor_base(1)).contiguous();
  if (!accumulate) {
    in_elements("put_" + size_name(self), self, source, index, false);
    return;
  }
  const Tensor whole(self), sums = whole.to(sum_type(self.scalar_type()));
  in_elements("put_accumulate_" + name_of_sum(self.scalar_type()), sums, source, index, false);
  if (!sums.is_same(whole)) whole.copy_(sums);
}

void flip_kernel(TensorIterator& iter, const bool /*quantized*/) { strided_copy(iter); }

}  // namespace

REGISTER_MPS_DISPATCH(index_stub, &index_kernel)
REGISTER_MPS_DISPATCH(index_put_stub, &index_put_kernel)
REGISTER_MPS_DISPATCH(index_copy_stub, &index_copy_kernel)
REGISTER_MPS_DISPATCH(index_fill_stub, &index_fill_kernel)
REGISTER_MPS_DISPATCH(take_stub, &take_kernel)
REGISTER_MPS_DISPATCH(put_stub, &put_kernel)
REGISTER_MPS_DISPATCH(flip_stub, &flip_kernel)

}  // namespace at::native
