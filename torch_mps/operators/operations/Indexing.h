// What the kernels of Indexing.metal take, and the ways to launch them that several operators share.
#pragma once

#include <ATen/core/TensorBase.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <string>

namespace at {
struct TensorIteratorBase;
}

namespace at::native::mps::indexing {

constexpr unsigned most_dims = 16;

struct AlongDim {
  std::uint32_t ndim = 0, dim = 0;
  std::int64_t dim_size = 0;
  bool wraps = false;
  std::int64_t sizes[most_dims] = {}, indexed_strides[most_dims] = {}, other_strides[most_dims] = {},
               index_strides[most_dims] = {};
};

struct ByTensors {
  std::uint32_t ndim = 0, count = 0;
  bool wraps = true;
  std::int64_t sizes[most_dims] = {}, indexed_strides[most_dims] = {}, other_strides[most_dims] = {},
               indexed_sizes[most_dims] = {}, strides_of_dims[most_dims] = {},
               index_strides[most_dims * most_dims] = {};
};

struct InElements {
  std::uint32_t ndim = 0;
  bool accumulate = false;
  std::int64_t numel = 0, sizes[most_dims] = {}, strides[most_dims] = {};
};

// "4": kernels that move elements are named by their bytes.
std::string size_name(const TensorBase& tensor);
// "long", "int"; of an index.
std::string index_name(const TensorBase& index);
// Raises for more dimensions than kernels take.
void check_dims(std::int64_t dims);

// gather: other[p] = indexed[p with p[dim] = index[p]]; all others: indexed[…] gets other[p]. p runs over `sizes`.
enum class Direction { from_indexed, to_indexed };
void along_dim(const std::string& kernel, Direction direction, const TensorBase& indexed, const TensorBase& other,
               const TensorBase& index, std::int64_t dim, IntArrayRef sizes, IntArrayRef index_strides,
               bool wraps = false, bool one_thread_along_dim = false);
// The strides of a vector that is the index of all positions along a dimension.
c10::SmallVector<std::int64_t, 5> strides_of_vector(const TensorBase& index, std::int64_t dim, std::size_t ndim);

// The same for an index that is a tensor, of its shape, whose elements lie side by side as those of the other tensor
// do; if it is another case it does nothing and gives false. "gather_lines_", "scatter_lines_".
bool along_lines(const std::string& kernel, Direction direction, const TensorBase& indexed, const TensorBase& other,
                 const TensorBase& index, std::int64_t dim);

// The same as `gather` for an index that is a vector, of a contiguous tensor into one, where rows are long enough.
bool gather_rows(const TensorBase& indexed, const TensorBase& other, const TensorBase& index, std::int64_t dim);

// indexed[…] += source; accumulates in float for half and bfloat.
void add_along_dim(const TensorBase& indexed, const TensorBase& source, const TensorBase& index, std::int64_t dim,
                   IntArrayRef sizes, IntArrayRef index_strides);

// Operand 0 becomes operand 1, which has its element type.
void strided_copy(TensorIteratorBase& iter);

}  // namespace at::native::mps::indexing
