// ShaderLibrary: kernels from source, called as PyTorch's operators call theirs. Names and rules are those of
// at::native::mps::MetalShaderLibrary, spelled our way and without torch:
//
//   MetalShaderLibrary, DynamicMetalShaderLibrary    ShaderLibrary, DynamicShaderLibrary
//   getKernelFunction, getFunctionNames, hasFunction kernel_function, function_names, has_function
//   getPipelineStateForFunc                          pipeline_state
//   MetalKernelFunction                              KernelFunction
//   runCommandBlock, startEncoding, dispatch         run_command_block, start_encoding, dispatch
//   setArg, setErrorBufferIndex                      set_arg, set_error_buffer_index
//   torch.mps.synchronize                            synchronize
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "metalloid/device.h"
#include "metalloid/dispatch.h"

namespace metalloid {

namespace detail {

template <typename T>
concept container = requires(const T& values) {
  typename T::size_type;
  typename T::value_type;
  { values.data() } -> std::convertible_to<const typename T::value_type*>;
  requires std::is_trivially_copyable_v<typename T::value_type> && !std::same_as<typename T::value_type, double>;
};

// double is none, nor are containers of it: Metal has no such type.
template <typename T>
concept inline_value = std::integral<T> || std::same_as<T, float> ||
                       (std::is_class_v<T> && std::is_trivially_copyable_v<T> && !container<T>);

}  // namespace detail

// A kernel, with the arguments that are being set for its next dispatch. One thread at a time, which run_command_block
// sees to.
class KernelFunction {
 public:
  explicit KernelFunction(Kernel kernel);
  ~KernelFunction();
  KernelFunction(const KernelFunction&) = delete;
  KernelFunction& operator=(const KernelFunction&) = delete;

  std::uint64_t max_threads_per_threadgroup() const;
  std::uint64_t thread_execution_width() const;
  std::uint64_t static_threadgroup_memory_length() const;  // bytes

  // Calls the block, which sets arguments and dispatches. What it throws passes through.
  void run_command_block(const std::function<void()>& block);

  // Forgets the arguments that were set before.
  void start_encoding();

  // What follows throws invalid_argument if no start_encoding() came before.
  // Memory, in place, from `offset` bytes on.
  void set_arg(unsigned index, const Buffer& buffer, std::size_t offset = 0);
  // The buffers' addresses, 8 bytes each: `struct { metal::array<device float*, N> x; }`.
  void set_arg(unsigned index, std::span<const Dispatch::BufferBinding> buffers);
  // Bytes by value, at most 4096. Throws invalid_argument without any.
  void set_arg(unsigned index, const void* bytes, std::uint64_t size, ElementType elements = ElementType::none);
  // A number or a structure by value, in its own width: what the kernel declares must have the same.
  template <detail::inline_value T>
  void set_arg(unsigned index, const T& value) {
    set_arg(index, static_cast<const void*>(&value), sizeof(T), element_type_of<T>());
  }
  // A vector's or span's elements by value.
  template <detail::container T>
  void set_arg(unsigned index, const T& values) {
    using Element = typename T::value_type;
    set_arg(index, static_cast<const void*>(values.data()), values.size() * sizeof(Element),
            element_type_of<Element>());
  }
  // Binds the memory that TORCH_REPORT_ERROR of <c10/metal/error.h> writes into; see synchronize().
  void set_error_buffer_index(unsigned index);

  // Runs the kernel for `length` threads and returns when it has finished; zero threads run nothing. Default group:
  // as many threads as the kernel may have, at most `length`. Throws limit_exceeded, invalid_argument (an argument is
  // missing or too small, no start_encoding() before), and what run() throws.
  void dispatch(std::uint64_t length, std::optional<std::uint64_t> group_size = {});
  // The same with one to three dimensions. Default group: as many threads as the kernel may have, in dimension 0.
  void dispatch(std::span<const std::uint64_t> length, std::optional<std::span<const std::uint64_t>> group_size = {});
  void dispatch(std::initializer_list<std::uint64_t> length, std::initializer_list<std::uint64_t> group_size = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Source that is compiled when its first kernel is asked for. Safe to use from several threads.
class ShaderLibrary {
 public:
  // As torch.mps compiles: Metal 3.2, math mode safe.
  static CompileOptions default_options();

  // With `parameter_count` (1 to 3, else invalid_argument), the source is a format in which `{}` stands for a parameter
  // and `{{` for a brace.
  explicit ShaderLibrary(std::string source, unsigned parameter_count = 0, CompileOptions options = default_options(),
                         Device device = Device::cpu());
  ~ShaderLibrary();
  ShaderLibrary(const ShaderLibrary&) = delete;
  ShaderLibrary& operator=(const ShaderLibrary&) = delete;

  // All throw compile_error, whose message is the compiler's log.
  std::vector<std::string> function_names();
  bool has_function(const std::string& name);
  // Throws unknown_function, naming the nearest.
  std::shared_ptr<KernelFunction> kernel_function(const std::string& name);
  Kernel pipeline_state(const std::string& name);
  // The kernel of the source with these parameters, which is compiled once. Throws invalid_argument if there are more
  // or fewer than the library's parameter count.
  Kernel pipeline_state(const std::string& name, const std::vector<std::string>& parameters);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Compiled at once: the constructor throws compile_error.
class DynamicShaderLibrary : public ShaderLibrary {
 public:
  explicit DynamicShaderLibrary(std::string source, CompileOptions options = default_options(),
                                Device device = Device::cpu());
};

struct ReportedError {
  std::string file, function, message;
  std::uint32_t line = 0;
  std::uint32_t count = 0;  // how many there were; this is the first
};

// The memory that kernels report errors into: one for the process, as torch has one per stream.
const Buffer& error_buffer();
// The first error that was reported since the last call; all are forgotten.
std::optional<ReportedError> take_reported_error();

// Throws what kernels reported with TORCH_REPORT_ERROR since the last call: the first message, as an Error with the
// code kernel_reported. All are forgotten then.
void synchronize();

}  // namespace metalloid
