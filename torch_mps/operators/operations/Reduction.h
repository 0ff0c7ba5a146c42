// Reductions by kernels of Reduction.metal; see kernels/reduction.h.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace at::native::mps {

std::string scalarToMetalTypeString(const c10::ScalarType& scalar_type);

namespace reductions {

// As kernels/reduction.h has it.
struct Shape {
  static constexpr int max_dimensions = 16;
  using List = std::array<int64_t, max_dimensions>;
  int64_t count = 1;
  int32_t kept_dimensions = 0;
  int32_t reduced_dimensions = 0;
  float parameter = 0;
  int32_t take_root = 0;
  int64_t results = 1, results_per_group = 1;
  List kept_sizes{}, kept_strides{}, first_strides{}, second_strides{}, reduced_sizes{}, reduced_strides{};
};

// A dimension that is walked. Strides in elements.
struct Dimension {
  int64_t size, stride, first_stride, second_stride;
  bool reduced;
};

// The dimensions of a tensor, and of results that keep reduced dimensions or do not.
std::vector<Dimension> dimensions(const TensorBase& input, std::bitset<64> reduced, bool keepdim,
                                  const TensorBase& first, const TensorBase& second);
// The iterator's: reduced are those in which the results do not advance.
std::vector<Dimension> dimensions(TensorIteratorBase& iter);

struct Plan {
  Shape shape;
  enum class Threads { each, columns, rows, group } threads = Threads::each;
  uint64_t group = 32;  // threads of a threadgroup
  uint64_t groups = 1;  // unless it is one thread per result
  explicit Plan(const std::vector<Dimension>& dimensions);
};

// Runs NAME_each, NAME_columns, NAME_rows or NAME_group for these types; `second` may be undefined.
void run(MetalShaderLibrary& library, std::string_view name, const Plan& plan, const TensorBase& input,
         const TensorBase& first, const TensorBase& second = {});
// The same with the operands of an iterator.
void run(MetalShaderLibrary& library, std::string_view name, TensorIteratorBase& iter, float parameter = 0,
         bool take_root = false);

}  // namespace reductions
}  // namespace at::native::mps
