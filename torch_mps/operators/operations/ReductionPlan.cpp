// How reductions are described to their kernels, and how many threads share one.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include "Reduction.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <functional>

namespace at::native::mps::reductions {
namespace {

// From so many elements on, several threads share a result.
constexpr int64_t shared_count = 64;
// With so many results a simdgroup is enough for one.
constexpr int64_t many_results = 64;
constexpr int64_t rows_of_simdgroup = 32;
constexpr int64_t elements_per_thread = 8;
// Results next to each other in memory, from which on their threads read side by side.
constexpr int64_t few_columns = 16;
constexpr int64_t columns_of_simdgroup = 32, wide_columns = 128;
constexpr int64_t enough_groups = 8;

// Without dimensions of size 1, and with those in one that are one run.
std::vector<Dimension> merged(const std::vector<Dimension>& dimensions) {
  std::vector<Dimension> result;
  for (const Dimension& next : dimensions) {
    if (next.size == 1) continue;
    if (!result.empty()) {
      Dimension& last = result.back();
      if (last.reduced == next.reduced && next.stride == last.stride * last.size &&
          next.first_stride == last.first_stride * last.size && next.second_stride == last.second_stride * last.size) {
        last.size *= next.size;
        continue;
      }
    }
    result.push_back(next);
  }
  return result;
}

}  // namespace

std::vector<Dimension> dimensions(const TensorBase& input, std::bitset<64> reduced, bool keepdim,
                                  const TensorBase& first, const TensorBase& second) {
  std::vector<Dimension> result;
  int64_t kept = keepdim ? input.dim() : input.dim() - static_cast<int64_t>(reduced.count());
  for (int64_t dimension = input.dim() - 1; dimension >= 0; --dimension) {
    const bool is_reduced = reduced[dimension];
    if (keepdim || !is_reduced) --kept;
    result.push_back({input.size(dimension), input.stride(dimension), is_reduced ? 0 : first.stride(kept),
                      is_reduced || !second.defined() ? 0 : second.stride(kept), is_reduced});
  }
  return result;
}

std::vector<Dimension> dimensions(TensorIteratorBase& iter) {
  const int outputs = iter.noutputs();
  const auto stride = [&](int operand, int dimension) {
    return iter.strides(operand)[dimension] / static_cast<int64_t>(iter.element_size(operand));
  };
  std::vector<Dimension> result;
  for (int dimension = 0; dimension < iter.ndim(); ++dimension) {
    const int64_t first = stride(0, dimension);
    result.push_back({iter.shape()[dimension], stride(outputs, dimension), first,
                      outputs > 1 ? stride(1, dimension) : 0, first == 0});
  }
  return result;
}

Plan::Plan(const std::vector<Dimension>& dimensions) {
  int64_t kept_run = 0, reduced_run = 0;  // strides of the innermost ones
  for (const Dimension& dimension : merged(dimensions)) {
    int32_t& used = dimension.reduced ? shape.reduced_dimensions : shape.kept_dimensions;
    TORCH_CHECK(used < Shape::max_dimensions, "Reductions over more than ", Shape::max_dimensions,
                " dimensions are not supported on MPS");
    if (dimension.reduced) {
      if (used == 0) reduced_run = dimension.stride;
      shape.reduced_sizes[used] = dimension.size;
      shape.reduced_strides[used] = dimension.stride;
      shape.count *= dimension.size;
    } else {
      if (used == 0) kept_run = dimension.stride;
      shape.kept_sizes[used] = dimension.size;
      shape.kept_strides[used] = dimension.stride;
      shape.first_strides[used] = dimension.first_stride;
      shape.second_strides[used] = dimension.second_stride;
      shape.results *= dimension.size;
    }
    ++used;
  }
  const int64_t columns = shape.kept_sizes[0];
  if (kept_run == 1 && columns >= few_columns && (shape.count < shared_count || reduced_run != 1)) {
    threads = Threads::columns;
    const auto groups_of = [&](int64_t width) { return shape.results / columns * ((columns + width - 1) / width); };
    const bool wide = groups_of(wide_columns) >= enough_groups;
    shape.results_per_group = wide ? wide_columns : columns_of_simdgroup;
    groups = static_cast<uint64_t>(groups_of(shape.results_per_group));
  } else if (shape.count >= shared_count && shape.results >= many_results) {
    threads = Threads::rows;
    shape.results_per_group = std::clamp<int64_t>(shape.results / many_results, 1, rows_of_simdgroup);
    groups = static_cast<uint64_t>((shape.results + shape.results_per_group - 1) / shape.results_per_group);
  } else if (shape.count >= shared_count) {
    threads = Threads::group;
    groups = static_cast<uint64_t>(shape.results);
    const int64_t wanted = (shape.count / elements_per_thread + 31) / 32 * 32;
    group = static_cast<uint64_t>(std::clamp<int64_t>(wanted, 32, 256));
  }
}

void run(MetalShaderLibrary& library, std::string_view name, const Plan& plan, const TensorBase& input,
         const TensorBase& first, const TensorBase& second) {
  if (plan.shape.results == 0) return;
  constexpr const char* names[] = {"_each_", "_columns_", "_rows_", "_group_"};  // as in Plan::Threads
  const std::string kernel_name = std::string(name) + names[static_cast<int>(plan.threads)] +
                                  scalarToMetalTypeString(first.scalar_type()) + "_" +
                                  scalarToMetalTypeString(input.scalar_type());
  TORCH_CHECK_NOT_IMPLEMENTED(library.hasFunction(kernel_name), "\"", name, "_mps\" not implemented for '",
                              input.scalar_type(), "'");
  auto* const kernel = library.getCachedKernelFunctionPtr(kernel_name);
  const auto encode = [&] {
    kernel->startEncoding();
    kernel->setArg(0, input);
    kernel->setArg(1, first);
    kernel->setArg(2, plan.shape);
    if (second.defined()) kernel->setArg(3, second);
    if (plan.threads == Plan::Threads::each) {
      kernel->dispatch(plan.shape.results);
    } else {
      kernel->dispatch(plan.groups * plan.group, plan.group);
    }
  };
  kernel->runCommandBlock(std::ref(encode));
}

void run(MetalShaderLibrary& library, std::string_view name, TensorIteratorBase& iter, float parameter,
         bool take_root) {
  Plan plan(dimensions(iter));
  plan.shape.parameter = parameter;
  plan.shape.take_root = take_root;
  const int outputs = iter.noutputs();
  run(library, name, plan, iter.tensor_base(outputs), iter.tensor_base(0),
      outputs > 1 ? iter.tensor_base(1) : TensorBase());
}

}  // namespace at::native::mps::reductions
