#include "metalloid/shader_library.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "support/fork_safe_mutex.h"

namespace metalloid {
namespace {

// Of all libraries; nothing is compiled under it.
support::ForkSafeMutex& libraries_mutex = *new support::ForkSafeMutex;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

Size size_from(std::span<const std::uint64_t> extents) {
  std::array<std::uint32_t, 3> size = {1, 1, 1};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] > UINT32_MAX) {
      refuse(fmt::format("grid and threadgroup extents lie between 0 and 2^32 - 1, not {}", extents[d]));
    }
    size[d] = static_cast<std::uint32_t>(extents[d]);
  }
  return {size[0], size[1], size[2]};
}

std::string substitute(const std::string& source, const std::vector<std::string>& parameters) {
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  for (const std::string& parameter : parameters) arguments.push_back(parameter);
  try {
    return fmt::vformat(source, arguments);
  } catch (const fmt::format_error& error) {
    refuse(fmt::format("the library's source is no format of {} parameters: {}", parameters.size(), error.what()));
  }
}

}  // namespace

struct KernelFunction::State {
  Kernel kernel;
  std::recursive_mutex mutex;  // blocks may nest
  std::optional<Dispatch> encoder;
  std::vector<Buffer> reached;  // by address
  Dispatch& encoding() {
    if (!encoder) refuse(fmt::format("kernel '{}': start_encoding() comes before arguments", kernel.name()));
    return *encoder;
  }
};

KernelFunction::KernelFunction(Kernel kernel) : state_(new State{std::move(kernel), {}, {}, {}}) {}
KernelFunction::~KernelFunction() = default;

std::uint64_t KernelFunction::max_threads_per_threadgroup() const {
  return state_->kernel.max_total_threads_per_threadgroup();
}
std::uint64_t KernelFunction::thread_execution_width() const { return state_->kernel.thread_execution_width(); }
std::uint64_t KernelFunction::static_threadgroup_memory_length() const {
  return state_->kernel.static_threadgroup_memory_length();
}

void KernelFunction::run_command_block(const std::function<void()>& block) {
  const std::lock_guard lock(state_->mutex);
  block();
}

void KernelFunction::start_encoding() {
  state_->encoder.emplace();
  state_->reached.clear();
}

void KernelFunction::set_arg(unsigned index, const Buffer& buffer, std::size_t offset) {
  state_->encoding().buffer(index, buffer, offset);
}

void KernelFunction::set_arg(unsigned index, std::span<const Dispatch::BufferBinding> buffers) {
  std::vector<std::uint64_t> addresses;
  const ArgumentInfo* argument = nullptr;
  for (const ArgumentInfo& candidate : state_->kernel.info().arguments) {
    if (candidate.kind == ArgumentKind::buffer && candidate.index == index) argument = &candidate;
  }
  for (const auto& [buffer, offset] : buffers) {
    const ElementType wanted = argument ? pointee_at(argument->type, addresses.size() * 8) : ElementType::none;
    if (differ_in_format(wanted, buffer.elements())) {
      refuse(fmt::format(
          "kernel '{}': address {} of argument '{}' at index {} leads to elements that are {}; those of "
          "its buffer are {}",
          state_->kernel.name(), addresses.size(), argument->name, index, name_of(wanted), name_of(buffer.elements())));
    }
    if (offset > buffer.size()) refuse(fmt::format("offset {} lies behind a buffer's {} bytes", offset, buffer.size()));
    addresses.push_back(buffer.gpu_address() + offset);
    state_->reached.push_back(buffer);
  }
  set_arg(index, addresses);
}

void KernelFunction::set_arg(unsigned index, const void* bytes, std::uint64_t size, ElementType elements) {
  if (size == 0) refuse(fmt::format("kernel '{}': no bytes for argument {}", state_->kernel.name(), index));
  state_->encoding().bytes(index, {static_cast<const std::byte*>(bytes), size}, elements);
}

void KernelFunction::set_error_buffer_index(unsigned index) { set_arg(index, error_buffer()); }

void KernelFunction::dispatch(std::uint64_t length, std::optional<std::uint64_t> group_size) {
  const std::uint64_t group = group_size.value_or(std::clamp<std::uint64_t>(length, 1, max_threads_per_threadgroup()));
  dispatch({length}, {group});
}

void KernelFunction::dispatch(std::initializer_list<std::uint64_t> length,
                              std::initializer_list<std::uint64_t> group_size) {
  const std::span<const std::uint64_t> lengths(length.begin(), length.size());
  if (group_size.size() == 0) return dispatch(lengths);
  dispatch(lengths, std::span<const std::uint64_t>(group_size.begin(), group_size.size()));
}

void KernelFunction::dispatch(std::span<const std::uint64_t> length,
                              std::optional<std::span<const std::uint64_t>> group_size) {
  if (length.empty() || length.size() > 3) refuse("Dispatch dimensions must be less than 4 and non-empty");
  const std::uint64_t limit = max_threads_per_threadgroup();
  std::vector<std::uint64_t> group(length.size(), 1);
  group[0] = length.size() == 1 ? std::clamp<std::uint64_t>(length[0], 1, limit) : limit;
  if (group_size) group.assign(group_size->begin(), group_size->end());
  if (group.size() != length.size()) refuse("size and group_size must have same number of dimensions");
  std::uint64_t volume = 1;
  for (const std::uint64_t extent : group) {
    if (__builtin_mul_overflow(volume, extent, &volume) || volume > limit) {
      throw Error(ErrorCode::limit_exceeded, fmt::format("Threadgroup size exceeds {} limit", limit));
    }
  }
  Dispatch& dispatch = state_->encoding().threads(size_from(length), size_from(group));
  if (std::ranges::find(length, 0u) != length.end() && volume != 0) return;
  run(state_->kernel, dispatch);
}

struct ShaderLibrary::State {
  std::string source;
  unsigned parameter_count;
  CompileOptions options;
  Device device;
  std::map<std::vector<std::string>, Library> libraries;  // by parameters; under libraries_mutex

  Library library(const std::vector<std::string>& parameters) {
    if (parameters.size() != parameter_count) {
      refuse(fmt::format("the library's source has {} parameters; {} given", parameter_count, parameters.size()));
    }
    {
      const std::lock_guard lock(libraries_mutex);
      const auto found = libraries.find(parameters);
      if (found != libraries.end()) return found->second;
    }
    const std::string text = parameter_count == 0 ? source : substitute(source, parameters);
    const Library compiled = device.make_library(text, options);
    const std::lock_guard lock(libraries_mutex);
    return libraries.emplace(parameters, compiled).first->second;
  }
};

CompileOptions ShaderLibrary::default_options() {
  CompileOptions options;
  options.math_mode = MathMode::safe;
  return options;
}

ShaderLibrary::ShaderLibrary(std::string source, unsigned parameter_count, CompileOptions options, Device device)
    : state_(new State{std::move(source), parameter_count, std::move(options), device, {}}) {
  if (parameter_count > 3) refuse(fmt::format("a library has at most 3 parameters, not {}", parameter_count));
}
ShaderLibrary::~ShaderLibrary() = default;

std::vector<std::string> ShaderLibrary::function_names() { return state_->library({}).kernel_names(); }

bool ShaderLibrary::has_function(const std::string& name) {
  const std::vector<std::string> names = function_names();
  return std::ranges::find(names, name) != names.end();
}

std::shared_ptr<KernelFunction> ShaderLibrary::kernel_function(const std::string& name) {
  return std::make_shared<KernelFunction>(pipeline_state(name));
}

Kernel ShaderLibrary::pipeline_state(const std::string& name) { return pipeline_state(name, {}); }

Kernel ShaderLibrary::pipeline_state(const std::string& name, const std::vector<std::string>& parameters) {
  const Library library = state_->library(parameters);
  try {
    return library.kernel(name);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unknown_function) throw;
    throw Error(error.code(), fmt::format("Failed to create function state object for: {}\n{}", name, error.what()));
  }
}

DynamicShaderLibrary::DynamicShaderLibrary(std::string source, CompileOptions options, Device device)
    : ShaderLibrary(std::move(source), 0, std::move(options), device) {
  function_names();
}

void synchronize() {
  if (auto error = take_reported_error()) throw Error(ErrorCode::kernel_reported, error->message);
}

}  // namespace metalloid
