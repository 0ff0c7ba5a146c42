// metal_kernel: checks a call, compiles what it needs once, binds arrays and runs.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <limits>
#include <map>
#include <mutex>

#include "metal_kernel/source.h"
#include "metalloid/metalloid.h"
#include "support/fork_safe_mutex.h"

namespace metalloid::fast {

struct MetalKernel::State {
  Declaration declaration;
  // By device and everything that the generated source depends on; under kernels_mutex.
  std::map<std::string, Kernel> kernels;
};

namespace {

// Of all kernels; nothing is compiled under it.
support::ForkSafeMutex& kernels_mutex = *new support::ForkSafeMutex;

// Declarations for the user's code; lines of messages count from the text that `verbose` prints.
constexpr std::string_view preamble = "#include <metalloid/mlx_utils.h>\n#line 1\n";

void check_count(std::string_view what, std::size_t expected, std::size_t count) {
  if (count != expected) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("[metal_kernel] Expected `{}` to have size {} but got size {}.\n", what, expected, count));
  }
}

// What the generated source depends on beside the declaration. Built on every call, so without formatting.
std::string key_of(const std::string& device, std::span<const Array> inputs, std::span<const Array> outputs,
                   const TemplateArguments& arguments) {
  std::string key = device;
  for (const Array& input : inputs) {
    key += static_cast<char>('A' + static_cast<int>(input.dtype));
    key += input.shape.empty() ? 's' : input.size() < 8 ? 'c' : 'd';
  }
  for (const Array& output : outputs) key += static_cast<char>('A' + static_cast<int>(output.dtype));
  for (const auto& [name, value] : arguments) {
    key += ' ' + name;
    key += static_cast<char>('0' + value.index());
  }
  return key + template_list(arguments);
}

Kernel compile(const Declaration& declaration, const GeneratedSource& generated, const Device& device) {
  CompileOptions options;
  options.math_mode = declaration.math_mode;
  try {
    return device.make_library(std::string(preamble) + generated.text, options).kernel(generated.kernel_name);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::compile_error) throw;
    throw Error(error.code(),
                fmt::format("[metal::Device] Unable to build metal library from source\n{}", error.what()));
  }
}

std::vector<Dtype> dtypes_of(std::span<const Array> arrays) {
  std::vector<Dtype> result;
  for (const Array& array : arrays) result.push_back(array.dtype);
  return result;
}

bool is_empty(const Size& size) { return size.x == 0 || size.y == 0 || size.z == 0; }

// Grid and threadgroup as Metal gets them. An extent larger than the grid is cut, as MLX does.
std::pair<Size, Size> sizes(const Launch& launch, std::uint32_t limit) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t volume = 1;
  for (int i = 0; i < 3; ++i) {
    if (launch.grid[i] < 0 || launch.threadgroup[i] < 0) {
      throw Error(ErrorCode::invalid_argument, "[metal_kernel] `grid` and `threadgroup` must not be negative.");
    }
    if (__builtin_mul_overflow(volume, static_cast<std::uint64_t>(launch.threadgroup[i]), &volume)) volume = most;
  }
  if (volume > limit) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("Thread group size ({}) is greater than  the maximum allowed threads per threadgroup ({}).",
                            volume, limit));
  }
  std::array<std::uint32_t, 3> grid, group;
  for (int i = 0; i < 3; ++i) {
    grid[i] = static_cast<std::uint32_t>(launch.grid[i]);
    group[i] = std::min(grid[i], static_cast<std::uint32_t>(launch.threadgroup[i]));
  }
  return {{grid[0], grid[1], grid[2]}, {group[0], group[1], group[2]}};
}

// What nobody gave a value for is undefined, as MLX's outputs are.
Dispatch make_dispatch(const Declaration& declaration, const std::vector<Array>& inputs,
                       const std::vector<Array>& outputs, const Launch& launch) {
  Dispatch dispatch;
  std::uint32_t index = 0;
  auto bind_array = [&](const Array& array, bool is_undefined = false) {
    // An array without elements still needs an address, and kernels touch some of it.
    if (array.size() == 0) {
      dispatch.buffer(index, Buffer(std::size_t{16} << 10));
    } else {
      dispatch.buffer(index, is_undefined ? array.buffer.as_undefined() : array.buffer, array.offset);
    }
  };
  for (const Binding& binding : bindings(declaration, inputs)) {
    switch (binding.kind) {
      case Binding::Kind::input: bind_array(inputs[binding.array]); break;
      case Binding::Kind::shape: dispatch.bytes(index, std::as_bytes(std::span(inputs[binding.array].shape))); break;
      case Binding::Kind::strides:
        dispatch.bytes(index, std::as_bytes(std::span(inputs[binding.array].strides)));
        break;
      case Binding::Kind::ndim:
        dispatch.value(index, static_cast<std::int32_t>(inputs[binding.array].shape.size()));
        break;
      case Binding::Kind::output: bind_array(outputs[binding.array], !launch.init_value);
    }
    ++index;
  }
  return dispatch;
}

// The inputs as the kernel wants them.
std::vector<Array> contiguous(const Declaration& declaration, std::vector<Array> inputs) {
  for (Array& input : inputs) {
    if (declaration.ensure_row_contiguous && !input.row_contiguous()) input = copy(input);
  }
  return inputs;
}

void check_memory(const Declaration& declaration, const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) check_memory(inputs[i], declaration.input_names[i]);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check_memory(outputs[i], declaration.output_names[i]);
    if (!outputs[i].row_contiguous()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("[metal_kernel] Output `{}` must be row contiguous.", declaration.output_names[i]));
    }
  }
}

// A compiled kernel, with the grid and the threadgroup as Metal gets them.
struct ReadyKernel {
  Kernel kernel;
  Size grid, group;
};

Kernel compiled_once(MetalKernel::State& state, const std::vector<Array>& inputs, const std::vector<Array>& outputs,
                     const TemplateArguments& arguments, const Device& device) {
  const std::string key = key_of(device.name(), inputs, outputs, arguments);
  {
    const std::lock_guard lock(kernels_mutex);
    const auto found = state.kernels.find(key);
    if (found != state.kernels.end()) return found->second;
  }
  const Kernel kernel =
      compile(state.declaration, generate(state.declaration, inputs, dtypes_of(outputs), arguments), device);
  const std::lock_guard lock(kernels_mutex);
  return state.kernels.emplace(key, kernel).first->second;
}

// Checks a call, and compiles its kernel unless that has been done.
ReadyKernel ready(MetalKernel::State& state, const std::vector<Array>& inputs, const std::vector<Array>& outputs,
                  const Launch& launch, const Device& device) {
  const Declaration& declaration = state.declaration;
  check_count("inputs", declaration.input_names.size(), inputs.size());
  check_count("outputs", declaration.output_names.size(), outputs.size());
  auto is_double = [](const Array& array) { return array.dtype == Dtype::float64; };
  if (std::ranges::any_of(inputs, is_double) || std::ranges::any_of(outputs, is_double)) {
    throw Error(ErrorCode::invalid_argument, "float64 is not supported on the GPU");
  }

  const Kernel kernel = compiled_once(state, inputs, outputs, launch.template_arguments, device);
  const auto [grid, group] = sizes(launch, kernel.max_total_threads_per_threadgroup());
  const bool nothing_to_write = std::ranges::all_of(outputs, [](const Array& output) { return output.size() == 0; });
  if (is_empty(grid) && !nothing_to_write) {
    throw Error(ErrorCode::invalid_argument, "[metal_kernel] `grid` is empty, but there are outputs to write.");
  }
  if (!is_empty(grid) && is_empty(group)) {
    throw Error(ErrorCode::invalid_argument, "[metal_kernel] `threadgroup` is empty.");
  }
  return {kernel, grid, group};
}

}  // namespace

const std::string& MetalKernel::name() const { return state_->declaration.name; }
const std::vector<std::string>& MetalKernel::input_names() const { return state_->declaration.input_names; }
const std::vector<std::string>& MetalKernel::output_names() const { return state_->declaration.output_names; }

GeneratedSource MetalKernel::source(const std::vector<Array>& inputs, const std::vector<Dtype>& output_dtypes,
                                    const TemplateArguments& template_arguments) const {
  check_count("inputs", input_names().size(), inputs.size());
  check_count("output_dtypes", output_names().size(), output_dtypes.size());
  return generate(state_->declaration, inputs, output_dtypes, template_arguments);
}

void MetalKernel::check(const std::vector<Array>& inputs, const std::vector<Array>& outputs, const Launch& launch,
                        Device device) const {
  ready(*state_, inputs, outputs, launch, device);
}

std::pair<Kernel, Dispatch> MetalKernel::prepare(const std::vector<Array>& inputs, const std::vector<Array>& outputs,
                                                 const Launch& launch, Device device) const {
  const auto [kernel, grid, group] = ready(*state_, inputs, outputs, launch, device);
  check_memory(state_->declaration, inputs, outputs);
  for (const Array& output : outputs) {
    if (launch.init_value) fill(output, *launch.init_value);
  }
  return {kernel, make_dispatch(state_->declaration, contiguous(state_->declaration, inputs), outputs, launch)
                      .threads(grid, group)};
}

void MetalKernel::run(const std::vector<Array>& inputs, const std::vector<Array>& outputs, const Launch& launch,
                      Device device) const {
  const Declaration& declaration = state_->declaration;
  const ReadyKernel checked = ready(*state_, inputs, outputs, launch, device);
  check_memory(declaration, inputs, outputs);
  for (const Array& output : outputs) {
    if (launch.init_value) fill(output, *launch.init_value);
  }
  if (is_empty(checked.grid)) return;
  metalloid::run(checked.kernel, make_dispatch(declaration, contiguous(declaration, inputs), outputs, launch)
                                     .threads(checked.grid, checked.group));
}

std::vector<Array> MetalKernel::operator()(const std::vector<Array>& inputs, const std::vector<Shape>& output_shapes,
                                           const std::vector<Dtype>& output_dtypes, std::array<int, 3> grid,
                                           std::array<int, 3> threadgroup, const TemplateArguments& template_arguments,
                                           std::optional<float> init_value, bool verbose, Device device) const {
  check_count("inputs", input_names().size(), inputs.size());
  check_count("output_shapes", output_names().size(), output_shapes.size());
  check_count("output_dtypes", output_names().size(), output_dtypes.size());
  if (verbose) {
    std::cout << "Generated source code for `" << name() << "`:\n```\n"
              << source(inputs, output_dtypes, template_arguments).text << "\n```" << std::endl;
  }
  std::vector<Array> outputs;
  for (std::size_t i = 0; i < output_shapes.size(); ++i) {
    outputs.push_back(Array::zeros(output_shapes[i], output_dtypes[i]));
  }
  run(inputs, outputs, {grid, threadgroup, template_arguments, init_value}, device);
  return outputs;
}

MetalKernel metal_kernel(std::string name, std::vector<std::string> input_names, std::vector<std::string> output_names,
                         std::string source, std::string header, bool ensure_row_contiguous, bool atomic_outputs,
                         MathMode math_mode) {
  if (output_names.empty()) {
    throw Error(ErrorCode::invalid_argument, "[metal_kernel] Must specify at least one output.");
  }
  auto state = std::make_shared<MetalKernel::State>();
  state->declaration = {std::move(name),
                        std::move(input_names),
                        std::move(output_names),
                        std::move(source),
                        std::move(header),
                        ensure_row_contiguous,
                        atomic_outputs,
                        math_mode,
                        {},
                        {}};
  find_mentions(state->declaration);
  return MetalKernel(std::move(state));
}

}  // namespace metalloid::fast
