// Dispatches: a kernel's arguments and grid.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "metalloid/device.h"

namespace metalloid {

struct Size {
  std::uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Size&) const = default;
  std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
};

// What a kernel is to be run with. Values are copied in; buffers are shared.
class Dispatch {
 public:
  struct BufferBinding {
    Buffer buffer;
    std::size_t offset = 0;  // bytes
  };
  struct Bytes : std::vector<std::byte> {
    using std::vector<std::byte>::vector;
    ElementType elements = ElementType::none;  // as Buffer::elements()
    std::size_t margin = 0;                    // bytes at both ends that are not the value's
    std::span<const std::byte> value() const { return std::span(*this).subspan(margin, size() - 2 * margin); }
  };
  // Dimension 0 first: the one whose elements lie next to each other, so a row-major array's shape reversed.
  struct TensorBinding {
    Buffer buffer;
    std::size_t offset = 0;             // bytes
    std::vector<std::int64_t> extents;  // elements
    std::vector<std::int64_t> strides;  // elements
  };
  using Binding = std::variant<BufferBinding, Bytes, TensorBinding>;
  struct Use {
    Buffer buffer;
    Access access;
  };

  Dispatch& buffer(std::uint32_t index, Buffer buffer, std::size_t offset = 0);
  // With a margin, the first and last bytes of `value` are not the argument's: kernels with a pointer may read them,
  // too.
  Dispatch& bytes(std::uint32_t index, std::span<const std::byte> value, ElementType elements = ElementType::none,
                  std::size_t margin = 0);
  // double is none: Metal has no such type.
  template <typename T>
    requires(std::is_trivially_copyable_v<T> && !std::is_same_v<T, double>)
  Dispatch& value(std::uint32_t index, const T& value) {
    return bytes(index, std::as_bytes(std::span<const T, 1>(&value, 1)), element_type_of<T>());
  }
  // For arguments of type metal::tensor. Without strides the elements have no gaps.
  Dispatch& tensor(std::uint32_t index, Buffer buffer, std::span<const std::int64_t> extents,
                   std::span<const std::int64_t> strides = {}, std::size_t offset = 0);
  // A buffer that argument buffers lead to, by its gpu_address(): Metal's useResource:usage:. Where a device works on
  // copies, their pointers go to copies, too, if the types of arguments say where they are.
  Dispatch& use(Buffer buffer, Access access = Access::read_write);
  Dispatch& threadgroup_memory(std::uint32_t index, std::size_t bytes);

  // dispatchThreads: the last threadgroup of each dimension is cut to fit the grid.
  Dispatch& threads(Size grid, Size threads_per_threadgroup);
  // dispatchThreadgroups: whole threadgroups.
  Dispatch& threadgroups(Size groups, Size threads_per_threadgroup);

  // Stops the kernel after this long; zero means never. Default: $METALLOID_TIMEOUT seconds, else 300 s.
  Dispatch& timeout(std::chrono::milliseconds limit);

  // Who launched it, for what the checker says: "encoder 'blur' of command buffer 'frame'".
  Dispatch& label(std::string text);

  const std::map<std::uint32_t, Binding>& bindings() const { return bindings_; }
  const std::vector<Use>& uses() const { return uses_; }
  const std::map<std::uint32_t, std::size_t>& threadgroup_memory_lengths() const { return threadgroup_memory_; }
  Size grid() const { return grid_; }
  Size group() const { return group_; }
  bool grid_counts_threads() const { return grid_counts_threads_; }
  bool has_grid() const { return has_grid_; }
  std::chrono::milliseconds timeout() const { return timeout_; }
  const std::string& label() const { return label_; }

 private:
  std::map<std::uint32_t, Binding> bindings_;
  std::vector<Use> uses_;
  std::map<std::uint32_t, std::size_t> threadgroup_memory_;
  Size grid_, group_;
  bool grid_counts_threads_ = true;
  bool has_grid_ = false;
  std::chrono::milliseconds timeout_;
  std::string label_;

 public:
  Dispatch();
};

// Runs the kernel now and returns when it has finished. Throws invalid_argument, limit_exceeded,
// kernel_crashed, kernel_timed_out, kernel_interrupted. Buffers then hold what the kernel wrote until it stopped.
void run(const Kernel& kernel, const Dispatch& dispatch);

// Stops every dispatch that runs at this moment, in all threads and queues: they throw kernel_interrupted. May be
// called from signal handlers.
void interrupt_kernels() noexcept;

}  // namespace metalloid
