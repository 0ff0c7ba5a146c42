// Metal's objects (libraries, pipeline states, encoders, ...) over Metalloid's. PyTorch's headers call them `void*`, or
// `id<MTL...>` in Objective-C++; both mean the same objects.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "metalloid/device.h"
#include "metalloid/dispatch.h"
#include "metalloid/queue.h"

namespace at::native::mps {
class MetalKernelFunction;
}

namespace metalloid::torch_host {

enum class Kind : std::uint32_t {
  other,  // an object of a class that Objective-C code defines
  device,
  library,
  function,
  pipeline,
  buffer,
  queue,
  command_buffer,
  encoder,
  compile_options,
  count,
};

// Begins every object. Objects lie in a range of addresses of their own: an `id<MTLBuffer>` may as well be the address
// of a tensor's memory, since PyTorch's headers cast one to the other.
struct Object {
  void* isa = nullptr;  // Objective-C's class; empty until a message asks for it
  Kind kind = Kind::other;
  std::atomic<std::uint32_t> references = 1;
  void (*destroy)(Object*) = nullptr;
};

// Zeroed. Throws std::bad_alloc.
void* allocate_object(std::size_t size);
void free_object(void* object, std::size_t size) noexcept;
bool is_object(const void* address) noexcept;

template <typename T, typename... Arguments>
T* make_object(Arguments&&... arguments) {
  void* memory = allocate_object(sizeof(T));
  T* object;
  try {
    object = new (memory) T{{nullptr, T::object_kind}, std::forward<Arguments>(arguments)...};
  } catch (...) {
    free_object(memory, sizeof(T));
    throw;
  }
  object->destroy = [](Object* self) {
    static_cast<T*>(self)->~T();
    free_object(self, sizeof(T));
  };
  return object;
}

template <typename T>
T* retain(T* object) noexcept {
  if (object) object->references.fetch_add(1, std::memory_order_relaxed);
  return object;
}
void release(Object* object) noexcept;

// The object behind a handle; none for a null handle. Throws c10::TypeError for anything else.
void check_kind(const void* handle, Kind kind);
template <typename T>
T* object_of(const void* handle) {
  if (handle) check_kind(handle, T::object_kind);
  return static_cast<T*>(const_cast<void*>(handle));
}

struct DeviceObject : Object {
  static constexpr Kind object_kind = Kind::device;
  Device device = Device::configured();
};
DeviceObject* default_device();

struct FunctionObject;
struct PipelineObject;

// One source or several, which are searched in order.
struct LibraryObject : Object {
  static constexpr Kind object_kind = Kind::library;
  std::vector<Library> parts;
  std::map<std::string, std::size_t, std::less<>> part_of = {};  // by kernel

  // What operators have asked for, which they do at each launch.
  struct Ready {
    PipelineObject* pipeline;
    FunctionObject* function;
    std::shared_ptr<at::native::mps::MetalKernelFunction> kernel;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  std::unordered_map<std::string, Ready, Hash, std::equal_to<>> ready = {};

  explicit LibraryObject(const Object& head, std::vector<Library> libraries);
  ~LibraryObject();
  LibraryObject(const LibraryObject&) = delete;
  LibraryObject& operator=(const LibraryObject&) = delete;
};

struct FunctionObject : Object {
  static constexpr Kind object_kind = Kind::function;
  std::string name;
  Kernel kernel;
};

inline constexpr unsigned buffer_slots = 31;

struct PipelineObject : Object {
  static constexpr Kind object_kind = Kind::pipeline;
  Kernel kernel;
  std::uint32_t buffers = 0;      // bit i: something is bound at buffer(i)
  std::uint32_t threadgroup = 0;  // the same for threadgroup(i)
  std::uint64_t max_threads = 0;

  // A dispatch with places for arguments at these indices, which the next one with the same takes over. It keeps no
  // memory alive.
  struct Prepared {
    Dispatch dispatch;
    std::uint32_t buffers, threadgroup;
  };
  std::atomic<Prepared*> prepared = nullptr;

  explicit PipelineObject(const Object& head, Kernel state);
  ~PipelineObject();
  PipelineObject(const PipelineObject&) = delete;
  PipelineObject& operator=(const PipelineObject&) = delete;
};

struct BufferObject : Object {
  static constexpr Kind object_kind = Kind::buffer;
  Buffer buffer;
  std::string label = {};
};

struct QueueObject : Object {
  static constexpr Kind object_kind = Kind::queue;
  explicit QueueObject(const Object& head) { kind = head.kind; }

  CommandBuffer command_buffer();

 private:
  std::mutex mutex_;
  std::optional<Queue> queue_;  // once it has work: PyTorch's streams never use theirs
};

// A list of a queue's, or what PyTorch's current stream is given.
struct CommandBufferObject : Object {
  static constexpr Kind object_kind = Kind::command_buffer;
  explicit CommandBufferObject(const Object& head, QueueObject* queue = nullptr);
  ~CommandBufferObject();
  CommandBufferObject(const CommandBufferObject&) = delete;
  CommandBufferObject& operator=(const CommandBufferObject&) = delete;

  // Throw c10::Error.
  void dispatch(const Kernel& kernel, Dispatch dispatch);
  void call(std::function<void()> work);
  void on_scheduled(std::function<void()> work);
  void on_completed(std::function<void()> work);
  void enqueue();
  void commit();
  void wait_until_scheduled();
  void wait_until_completed();

  CommandBuffer::Status status() const;
  std::exception_ptr error() const;
  // Of what it did, in seconds.
  double begin() const;
  double end() const;

 private:
  QueueObject* queue_;
  std::optional<CommandBuffer> list_;   // of a queue
  std::shared_ptr<void> freed_memory_;  // which the list may use
};

struct CompileOptionsObject : Object {
  static constexpr Kind object_kind = Kind::compile_options;
  CompileOptions options = {};
};

// The memory behind an `id<MTLBuffer>`: a buffer object, or a tensor's memory on the device. Throws c10::TypeError for
// an address that is neither.
Buffer memory_of(const void* handle);

// Compiles Metal source as PyTorch does; `options` is a CompileOptionsObject or null. Throws c10::SyntaxError,
// c10::Error.
LibraryObject* compile_library(const std::string& source, const void* options);
inline constexpr const char* no_metallib =
    "a metallib is machine code for Apple's GPUs, which Metalloid cannot run; compile the kernels from their Metal "
    "source";

// Throw c10::ValueError for bytes outside of a buffer. Done in the order of the command buffer, which is null for
// PyTorch's current stream.
void copy_memory(CommandBufferObject* commands, const void* source, std::size_t source_offset, const void* destination,
                 std::size_t destination_offset, std::size_t size);
void fill_memory(CommandBufferObject* commands, const void* buffer, std::size_t offset, std::size_t size,
                 std::byte value);

// Arguments for the next dispatch. Bindings stay from dispatch to dispatch; what the kernel does not take is not
// passed.
struct EncoderObject : Object {
  static constexpr Kind object_kind = Kind::encoder;
  // Of a command buffer, which it keeps, or of PyTorch's current stream.
  explicit EncoderObject(const Object& head, CommandBufferObject* commands = nullptr);
  ~EncoderObject();
  EncoderObject(const EncoderObject&) = delete;
  EncoderObject& operator=(const EncoderObject&) = delete;

  void forget();  // all bindings and the pipeline state
  void set_pipeline(PipelineObject* state) { pipeline = state; }
  void set_memory(unsigned index, void* memory, std::size_t size, std::size_t offset);
  void set_buffer(unsigned index, const void* handle, std::size_t offset);  // null: the kernel gets a null pointer
  void set_bytes(unsigned index, const void* bytes, std::size_t size);
  void use(const void* handle, Access access);  // what argument buffers lead to, for all dispatches that follow
  void set_threadgroup_memory(unsigned index, std::size_t size);
  void move_offset(unsigned index, std::size_t offset);
  // dispatchThreads. Throw c10::Error.
  void dispatch_threads(std::array<std::uint64_t, 3> grid, std::array<std::uint64_t, 3> group);
  void dispatch_threadgroups(std::array<std::uint64_t, 3> groups, std::array<std::uint64_t, 3> group);
  // As many threads to a group as fit, dimension by dimension.
  void dispatch_jobs(std::uint64_t x, std::uint64_t y = 1, std::uint64_t z = 1);

  PipelineObject* pipeline = nullptr;

 private:
  CommandBufferObject* commands_ = nullptr;
  struct Slot {
    std::size_t offset = 0;
    Buffer buffer = Buffer::wrap(nullptr, 0);
    std::vector<std::byte> bytes = {};
  };
  Slot& slot(unsigned index);
  void run(const char* what, Size grid, Size group, bool counts_threads);

  // Bit i: what slot i holds is memory, which may have an owner, or bytes; threadgroup memory i has a size.
  std::uint32_t memory_slots_ = 0, owned_slots_ = 0, bytes_slots_ = 0, threadgroup_slots_ = 0;
  std::array<Slot, buffer_slots> slots_ = {};
  std::vector<Dispatch::Use> used_ = {};
  std::array<std::size_t, buffer_slots> threadgroup_ = {};
};

}  // namespace metalloid::torch_host
