// Metal's objects (libraries, pipeline states, encoders, ...) over Metalloid's, as C++ sees them. Objective-C knows
// them as `id<MTL...>`; both mean the same objects. For host interfaces that stand on Metal's (metal/host.h); programs
// use Metal's own headers.
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
#include "metalloid/metal/object.h"
#include "metalloid/packed_library.h"
#include "metalloid/queue.h"

namespace metalloid::metal {

struct DeviceObject : Object {
  static constexpr const char* class_name = "MetalloidDevice";
  explicit DeviceObject(Device one) : device(one) {}
  Device device;
  std::atomic<std::uint64_t> allocated_bytes = 0;  // as buffers and heaps were asked for
  bool shares_memory_with_host();

 private:
  enum class Shares : std::uint8_t { unknown, no, yes };
  std::atomic<Shares> shares_ = Shares::unknown;  // to ask takes an allocation
};
DeviceObject* default_device();
// The default one first. They live as long as the process.
const std::vector<DeviceObject*>& all_devices();

struct FunctionObject;
struct PipelineObject;

// A source of a library. One out of a file is compiled when a kernel of it is asked for.
class LibraryPart {
 public:
  explicit LibraryPart(Library library) : library_(std::move(library)) {}
  LibraryPart(PackedLibrary packed, DeviceObject* device) : packed_(std::move(packed)), device_(device) {}
  LibraryPart(LibraryPart&& other) noexcept
      : library_(std::move(other.library_)), packed_(std::move(other.packed_)), device_(other.device_) {}

  std::vector<std::string> kernel_names() const { return packed_ ? packed_->kernel_names() : library_->kernel_names(); }
  const Library& library();  // throws what Device::make_library does

 private:
  std::mutex mutex_;
  std::optional<Library> library_;
  std::optional<PackedLibrary> packed_;
  DeviceObject* device_ = nullptr;
};

// One source or several, which are searched in order.
struct LibraryObject : Object {
  static constexpr const char* class_name = "MetalloidLibrary";
  std::vector<LibraryPart> parts;
  std::map<std::string, std::size_t, std::less<>> part_of = {};  // by kernel

  // What a host has asked for by name, which it does at each launch.
  struct Ready {
    PipelineObject* pipeline;
    FunctionObject* function;
    std::shared_ptr<void> attachment;  // the host's own
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  std::unordered_map<std::string, Ready, Hash, std::equal_to<>> ready = {};

  DeviceObject* device;
  std::string label = {};

  explicit LibraryObject(std::vector<LibraryPart> sources, DeviceObject* of = default_device());
  ~LibraryObject();
  LibraryObject(const LibraryObject&) = delete;
  LibraryObject& operator=(const LibraryObject&) = delete;
};

struct FunctionObject : Object {
  static constexpr const char* class_name = "MetalloidFunction";
  FunctionObject(std::string its_name, Kernel state, DeviceObject* of = default_device())
      : name(std::move(its_name)), device(of), kernel_(std::move(state)) {}
  // Compiled when it is asked for.
  FunctionObject(std::string its_name, Library from, DeviceObject* of)
      : name(std::move(its_name)), device(of), library_(std::move(from)) {}
  std::string name;
  std::string label = {};
  DeviceObject* device;

  const Kernel& kernel();                         // throws what Library::kernel does
  std::vector<FunctionConstantInfo> constants();  // that it depends on

 private:
  std::mutex mutex_;
  std::optional<Library> library_;
  std::optional<Kernel> kernel_;
};

inline constexpr unsigned buffer_slots = 31;

struct PipelineObject : Object {
  static constexpr const char* class_name = "MetalloidPipelineState";
  Kernel kernel;
  std::uint32_t buffers = 0;      // bit i: something is bound at buffer(i)
  std::uint32_t threadgroup = 0;  // the same for threadgroup(i)
  std::uint64_t max_threads = 0;
  std::string label = {};
  DeviceObject* device;

  // A dispatch with places for arguments at these indices, which the next one with the same takes over. It keeps no
  // memory alive.
  struct Prepared {
    Dispatch dispatch;
    std::uint32_t buffers, threadgroup;
  };
  std::atomic<Prepared*> prepared = nullptr;

  explicit PipelineObject(Kernel state, DeviceObject* of = default_device());
  ~PipelineObject();
  PipelineObject(const PipelineObject&) = delete;
  PipelineObject& operator=(const PipelineObject&) = delete;
};

struct BufferObject : Object {
  static constexpr const char* class_name = "MetalloidBuffer";
  explicit BufferObject(Buffer memory, std::string text = {})
      : buffer(std::move(memory)), length(buffer.size()), label(std::move(text)) {}
  // Of a device, which counts its bytes.
  BufferObject(Buffer memory, std::size_t its_length, DeviceObject* of, std::uint64_t its_options)
      : buffer(std::move(memory)), length(its_length), device(of), options(its_options), counted(length) {
    device->allocated_bytes += counted;
  }
  ~BufferObject() { device->allocated_bytes -= counted; }
  BufferObject(const BufferObject&) = delete;
  BufferObject& operator=(const BufferObject&) = delete;

  Buffer buffer;  // its memory, which may be longer
  std::size_t length;
  std::string label = {};
  DeviceObject* device = default_device();
  std::uint64_t options = 0;  // MTLResourceOptions
  std::uint64_t counted = 0;
  // The caller's bytes, where the memory is the device's copy of them.
  void* contents = nullptr;
  std::shared_ptr<void> contents_owner = {};
  std::shared_ptr<void> heap = {};  // an id<MTLHeap>, and the place in it
  std::size_t heap_offset = 0;
};

struct QueueObject : Object {
  static constexpr const char* class_name = "MetalloidCommandQueue";
  explicit QueueObject(DeviceObject* of = default_device()) : device(of) {}

  CommandBuffer command_buffer();

  DeviceObject* device;
  std::string label = {};
  std::shared_ptr<void> log = {};  // an id<MTLLogState>

 private:
  std::mutex mutex_;
  std::optional<Queue> queue_;  // once it has work: a host's own streams never use theirs
};

// A list of a queue's, or what the calling thread's stream is given (Stream::current()).
struct CommandBufferObject : Object {
  static constexpr const char* class_name = "MetalloidCommandBuffer";
  explicit CommandBufferObject(QueueObject* queue = nullptr);
  ~CommandBufferObject();
  CommandBufferObject(const CommandBufferObject&) = delete;
  CommandBufferObject& operator=(const CommandBufferObject&) = delete;

  void dispatch(const Kernel& kernel, Dispatch dispatch);
  void copy(const Buffer& from, std::size_t from_offset, const Buffer& to, std::size_t to_offset, std::size_t bytes);
  void fill(const Buffer& buffer, std::size_t offset, std::size_t bytes, std::byte value);
  void signal(const SharedEvent& event, std::uint64_t value);
  void wait(const SharedEvent& event, std::uint64_t value);
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

  QueueObject* queue() const { return queue_; }
  DeviceObject* device() const { return queue_ ? queue_->device : default_device(); }

  std::string label = {};
  std::uint64_t error_options = 0;
  bool retains_references = true;
  std::shared_ptr<void> log = {};
  // The encoders that it had, in their order, and the one whose work runs or ran last; counted where errors are to say.
  std::vector<std::string> encoders = {};
  std::atomic<std::size_t> reached = 0;
  // For the debug layer: an encoder has begun and not ended; commit() was called.
  bool is_encoding = false, is_committed = false;

 private:
  QueueObject* queue_;
  std::optional<CommandBuffer> list_;   // of a queue
  std::shared_ptr<void> freed_memory_;  // which the list may use
};

// What programs written for a Mac count on, where they give no options.
CompileOptions program_options();

struct CompileOptionsObject : Object {
  static constexpr const char* class_name = "MTLCompileOptions";
  CompileOptions options = program_options();
};

// The memory behind an `id<MTLBuffer>`: a buffer object, or memory of the host's. An address that is neither is a
// Fault::type.
Buffer memory_of(const void* handle);

// Compiles Metal source, as the host wants it; `options` is a CompileOptionsObject or null. Throws what
// Device::make_library does.
LibraryObject* compile_library(const std::string& source, const void* options, DeviceObject* device = default_device());
// A packed library (packed_library.h), of bytes or of a file. Throws what unpack() does, and input_output for a file
// that cannot be read.
LibraryObject* load_library(std::string_view bytes, DeviceObject* device = default_device());
LibraryObject* load_library_file(const std::string& path, DeviceObject* device = default_device());

// Bytes outside of a buffer are a Fault::value. Done in the order of the command buffer, which is null for the calling
// thread's stream.
void copy_memory(CommandBufferObject* commands, const void* source, std::size_t source_offset, const void* destination,
                 std::size_t destination_offset, std::size_t size);
void fill_memory(CommandBufferObject* commands, const void* buffer, std::size_t offset, std::size_t size,
                 std::byte value);

// Arguments for the next dispatch. Bindings stay from dispatch to dispatch; what the kernel does not take is not
// passed.
struct EncoderObject : Object {
  static constexpr const char* class_name = "MetalloidComputeEncoder";
  // Of a command buffer, which it keeps, or of the calling thread's stream.
  explicit EncoderObject(CommandBufferObject* commands = nullptr);
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
  // dispatchThreads.
  void dispatch_threads(std::array<std::uint64_t, 3> grid, std::array<std::uint64_t, 3> group);
  void dispatch_threadgroups(std::array<std::uint64_t, 3> groups, std::array<std::uint64_t, 3> group);
  // As many threads to a group as fit, dimension by dimension.
  void dispatch_jobs(std::uint64_t x, std::uint64_t y = 1, std::uint64_t z = 1);

  void dispatch_threadgroups(const Buffer& indirect, std::size_t offset, std::array<std::uint64_t, 3> group);

  bool has_argument(unsigned index) const { return ((memory_slots_ | bytes_slots_) >> index & 1) != 0; }
  std::size_t threadgroup_memory(unsigned index) const {  // bytes
    return (threadgroup_slots_ >> index & 1) != 0 ? threadgroup_[index] : 0;
  }

  PipelineObject* pipeline = nullptr;
  bool is_ended = false;
  std::function<void()> at_end = {};  // what is encoded behind all else
  CommandBufferObject* commands() const { return commands_; }
  std::size_t number = 0;  // of the command buffer's encoders

 private:
  CommandBufferObject* commands_ = nullptr;
  struct Slot {
    std::size_t offset = 0;
    Buffer buffer = Buffer::wrap(nullptr, 0);
    std::vector<std::byte> bytes = {};
  };
  Slot& slot(unsigned index);
  void run(const char* what, Size grid, Size group, bool counts_threads);
  std::size_t slack_behind(std::uint32_t threadgroup) const;  // bytes
  void bind(Dispatch& dispatch, std::uint32_t buffers, std::uint32_t threadgroup) const;
  void check(const char* what, Size group) const;
  std::string launch() const;

  // Bit i: what slot i holds is memory, which may have an owner, or bytes; threadgroup memory i has a size.
  std::uint32_t memory_slots_ = 0, owned_slots_ = 0, bytes_slots_ = 0, threadgroup_slots_ = 0;
  std::array<Slot, buffer_slots> slots_ = {};
  std::vector<Dispatch::Use> used_ = {};
  std::array<std::size_t, buffer_slots> threadgroup_ = {};
};

}  // namespace metalloid::metal
