// metal_kernel: a kernel from the body of a function, whose signature is generated from the arrays that it is called
// with. The interface and the rules are those of mlx::core::fast::metal_kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "metalloid/device.h"
#include "metalloid/dispatch.h"
#include "metalloid/element_type.h"

namespace metalloid::fast {

using Dtype = ElementType;
std::string_view metal_name(Dtype dtype);  // as generated source spells it: "float16_t", "int32_t", "bool", ...

using Shape = std::vector<std::int32_t>;
using Strides = std::vector<std::int64_t>;  // in elements; may be zero or negative

// Memory seen as an array. Cheap to copy; the elements are shared.
struct Array {
  Buffer buffer = Buffer::wrap(nullptr, 0);
  std::size_t offset = 0;  // bytes, to the element at position (0, 0, ...)
  Shape shape;
  Strides strides;
  Dtype dtype = Dtype::float32;

  std::int64_t size() const;  // elements
  std::byte* data() const { return static_cast<std::byte*>(buffer.contents()) + offset; }
  bool row_contiguous() const;

  // All throw invalid_argument: negative dimensions, strides that are not one per dimension.
  static Array zeros(Shape shape, Dtype dtype);
  // The caller's memory, row contiguous, without a copy.
  static Array wrap(void* memory, Shape shape, Dtype dtype, std::shared_ptr<void> owner = {});
  // The same with strides; `first` is the element at position (0, 0, ...).
  static Array wrap(void* first, Shape shape, Strides strides, Dtype dtype);
  // Without dimensions: a number, converted as `fill` does. Other types give their bytes, as many as the dtype has,
  // else invalid_argument.
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  static Array scalar(const T& value, Dtype dtype) {
    if constexpr (std::is_integral_v<T>) {
      if (dtype == Dtype::int64 || dtype == Dtype::uint64) return scalar_of(std::uint64_t(value), dtype);
    }
    if constexpr (std::is_arithmetic_v<T>) return scalar_of(static_cast<double>(value), dtype);
    return scalar_of(std::as_bytes(std::span<const T, 1>(&value, 1)), dtype);
  }

 private:
  static Array scalar_of(double value, Dtype dtype);
  static Array scalar_of(std::uint64_t value, Dtype dtype);
  static Array scalar_of(std::span<const std::byte> bytes, Dtype dtype);
};

// A row-contiguous copy.
Array copy(const Array& array);
// Sets every element of a row-contiguous array, converted to its dtype: rounded to nearest, whole numbers cut towards
// zero and to the dtype's range.
void fill(const Array& array, double value);

using TemplateArgument = std::variant<int, bool, Dtype>;
using TemplateArguments = std::vector<std::pair<std::string, TemplateArgument>>;

// One call, all but its memory.
struct Launch {
  std::array<int, 3> grid{1, 1, 1};  // in threads
  std::array<int, 3> threadgroup{1, 1, 1};
  TemplateArguments template_arguments = {};
  std::optional<float> init_value = {};  // outputs start from it; else from zero
};

struct GeneratedSource {
  std::string kernel_name;
  std::string text;
};

// Cheap to copy; safe to call from several threads.
class MetalKernel {
 public:
  // Returns when the kernel has finished. Throws Error: invalid_argument (also arrays that reach outside their buffers,
  // and threadgroups that are too large), compile_error (with the compiler's log), and what a dispatch throws.
  std::vector<Array> operator()(const std::vector<Array>& inputs, const std::vector<Shape>& output_shapes,
                                const std::vector<Dtype>& output_dtypes, std::array<int, 3> grid,
                                std::array<int, 3> threadgroup, const TemplateArguments& template_arguments = {},
                                std::optional<float> init_value = {}, bool verbose = false,
                                Device device = Device::cpu()) const;

  // The same into row-contiguous arrays of the caller's, whose contents may be lost.
  void run(const std::vector<Array>& inputs, const std::vector<Array>& outputs, const Launch& launch,
           Device device = Device::cpu()) const;

  // What `run` runs: the compiled kernel, and its dispatch with the outputs filled and inputs copied where they must
  // be. For metalloid::tune, which measures the dispatch with other threadgroups.
  std::pair<Kernel, Dispatch> prepare(const std::vector<Array>& inputs, const std::vector<Array>& outputs,
                                      const Launch& launch, Device device = Device::cpu()) const;

  // Throws what `run` would throw before it touches memory, and compiles the kernel if need be. Arrays may be without
  // memory.
  void check(const std::vector<Array>& inputs, const std::vector<Array>& outputs, const Launch& launch,
             Device device = Device::cpu()) const;

  // What would be compiled, without the declarations that every kernel has (<metalloid/mlx_utils.h>). Of the inputs
  // shape and dtype count.
  GeneratedSource source(const std::vector<Array>& inputs, const std::vector<Dtype>& output_dtypes,
                         const TemplateArguments& template_arguments = {}) const;

  const std::string& name() const;
  const std::vector<std::string>& input_names() const;
  const std::vector<std::string>& output_names() const;

  struct State;
  explicit MetalKernel(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

// Throws invalid_argument without outputs. `source` is the function's body; the parameters INPUT_shape, INPUT_strides,
// INPUT_ndim and the attributes of MSL spec table 5.8 appear where it mentions them.
MetalKernel metal_kernel(std::string name, std::vector<std::string> input_names, std::vector<std::string> output_names,
                         std::string source, std::string header = "", bool ensure_row_contiguous = true,
                         bool atomic_outputs = false, MathMode math_mode = MathMode::safe);

}  // namespace metalloid::fast
