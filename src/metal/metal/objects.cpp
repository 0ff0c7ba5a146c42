#include "metalloid/metal/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "metal/metal/validation.h"
#include "metalloid/check.h"
#include "metalloid/metal/host.h"

namespace metalloid::metal {
namespace {

std::atomic<std::uint64_t> launched;

std::uint32_t extent(std::uint64_t value) {
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    fail(Fault::misuse, fmt::format("Metal grids have at most 2^32 - 1 threads in one dimension, not {}", value));
  }
  return static_cast<std::uint32_t>(value);
}

Size size_of(const std::array<std::uint64_t, 3>& extents) {
  return {extent(extents[0]), extent(extents[1]), extent(extents[2])};
}

template <typename Use>
void for_each_bit(std::uint32_t bits, const Use& use) {
  for (; bits != 0; bits &= bits - 1) use(static_cast<unsigned>(std::countr_zero(bits)));
}

// A Mac's GPU has a command's bytes amid those of others, and a read in front of them does no harm there: MLX's kernels
// look for the last stride of arrays that have none. The checker and the debug layer see bytes as they were given.
constexpr std::size_t bytes_margin = 16;

}  // namespace

DeviceObject* default_device() { return all_devices().front(); }

const std::vector<DeviceObject*>& all_devices() {
  static const auto& devices = *new std::vector<DeviceObject*>([] {
    const Device first = Device::configured();
    std::vector<DeviceObject*> all = {make_object<DeviceObject>(first)};
    for (const Device& one : Device::choices()) {
      if (one != first) all.push_back(make_object<DeviceObject>(one));
    }
    return all;
  }());
  return devices;
}

const Kernel& FunctionObject::kernel() {
  const std::lock_guard lock(mutex_);
  if (!kernel_) kernel_ = library_->kernel(name);
  return *kernel_;
}

bool DeviceObject::shares_memory_with_host() {
  if (shares_ == Shares::unknown) shares_ = Buffer(device, 1).contents() ? Shares::yes : Shares::no;
  return shares_ == Shares::yes;
}

std::vector<FunctionConstantInfo> FunctionObject::constants() {
  std::vector<FunctionConstantInfo> all;
  if (!library_) return all;
  const LibraryInfo& info = library_->info();
  const auto own = std::ranges::find(info.kernels, name, &KernelInfo::name);
  if (own == info.kernels.end()) return all;
  std::ranges::copy_if(info.function_constants, std::back_inserter(all), [&](const FunctionConstantInfo& one) {
    return std::ranges::find(own->function_constants, one.name) != own->function_constants.end();
  });
  return all;
}

const Library& LibraryPart::library() {
  const std::lock_guard lock(mutex_);
  if (!library_) library_ = packed_->load(device_->device);
  return *library_;
}

LibraryObject::LibraryObject(std::vector<LibraryPart> sources, DeviceObject* of)
    : parts(std::move(sources)), device(of) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const std::string& name : parts[i].kernel_names()) part_of.emplace(name, i);
  }
}

LibraryObject::~LibraryObject() {
  for (const auto& [_, kernel] : ready) {
    release(kernel.pipeline);
    release(kernel.function);
  }
}

PipelineObject::PipelineObject(Kernel state, DeviceObject* of) : kernel(std::move(state)), device(of) {
  max_threads = kernel.max_total_threads_per_threadgroup();
  for (const ArgumentInfo& argument : kernel.info().arguments) {
    if (argument.index >= buffer_slots) continue;
    // Where the kernel reads nothing, an encoder has what another pipeline state was given.
    if (argument.kind == ArgumentKind::buffer && argument.is_used) buffers |= 1u << argument.index;
    if (argument.kind == ArgumentKind::threadgroup_memory) threadgroup |= 1u << argument.index;
  }
}

PipelineObject::~PipelineObject() { delete prepared.load(); }

Buffer memory_of(const void* handle) {
  if (is_object(handle)) return object_of<BufferObject>(handle)->buffer;
  std::optional<Buffer> memory;
  if (host().memory_at) memory = host().memory_at(handle);
  if (!memory) fail(Fault::type, fmt::format("{} is neither an MTLBuffer nor the memory of a tensor on mps", handle));
  return *memory;
}

void copy_memory(CommandBufferObject* commands, const void* source, std::size_t source_offset, const void* destination,
                 std::size_t destination_offset, std::size_t size) {
  const Buffer from = memory_of(source), to = memory_of(destination);
  if (source_offset > from.size() || size > from.size() - source_offset || destination_offset > to.size() ||
      size > to.size() - destination_offset) {
    fail(Fault::value, fmt::format("a copy of {} bytes from {} to {} leaves buffers of {} and {} bytes", size,
                                   source_offset, destination_offset, from.size(), to.size()));
  }
  if (size == 0) return;
  if (commands && commands->queue()) return commands->copy(from, source_offset, to, destination_offset, size);
  Stream::current().call([=] {
    std::memmove(static_cast<char*>(to.contents()) + destination_offset,
                 static_cast<const char*>(from.contents()) + source_offset, size);
  });
}

void fill_memory(CommandBufferObject* commands, const void* buffer, std::size_t offset, std::size_t size,
                 std::byte value) {
  const Buffer memory = memory_of(buffer);
  if (offset > memory.size() || size > memory.size() - offset) {
    fail(Fault::value, fmt::format("bytes {} to {} leave a buffer of {}", offset, offset + size, memory.size()));
  }
  if (commands && commands->queue()) return commands->fill(memory, offset, size, value);
  Stream::current().call(
      [=] { std::memset(static_cast<char*>(memory.contents()) + offset, std::to_integer<int>(value), size); });
}

EncoderObject::EncoderObject(CommandBufferObject* commands) : commands_(retain(commands)) {}

EncoderObject::~EncoderObject() { release(commands_); }

EncoderObject::Slot& EncoderObject::slot(unsigned index) {
  if (index >= buffer_slots) {
    fail(Fault::misuse, fmt::format("buffer index {} is beyond the last one, {}", index, buffer_slots - 1));
  }
  return slots_[index];
}

void EncoderObject::forget() {
  pipeline = nullptr;
  memory_slots_ = owned_slots_ = bytes_slots_ = threadgroup_slots_ = 0;
  used_.clear();
}

void EncoderObject::set_memory(unsigned index, void* memory, std::size_t size, std::size_t offset) {
  Slot& place = slot(index);
  place.offset = offset;
  place.buffer = Buffer::wrap(memory, size);
  memory_slots_ |= 1u << index;
  owned_slots_ &= ~(1u << index);
  bytes_slots_ &= ~(1u << index);
}

void EncoderObject::set_buffer(unsigned index, const void* handle, std::size_t offset) {
  Slot& place = slot(index);
  place.buffer = handle ? memory_of(handle) : Buffer::wrap(nullptr, std::numeric_limits<std::int64_t>::max());
  place.offset = handle ? offset : 0;
  memory_slots_ |= 1u << index;
  owned_slots_ |= 1u << index;
  bytes_slots_ &= ~(1u << index);
}

void EncoderObject::set_bytes(unsigned index, const void* bytes, std::size_t size) {
  Slot& place = slot(index);
  const auto* first = static_cast<const std::byte*>(bytes);
  place.bytes.assign(size + 2 * bytes_margin, std::byte{});
  std::copy(first, first + size, place.bytes.begin() + bytes_margin);
  bytes_slots_ |= 1u << index;
  memory_slots_ &= ~(1u << index);
}

void EncoderObject::use(const void* handle, Access access) { used_.push_back({memory_of(handle), access}); }

void EncoderObject::set_threadgroup_memory(unsigned index, std::size_t size) {
  slot(index);
  threadgroup_[index] = size;
  threadgroup_slots_ = size != 0 ? threadgroup_slots_ | 1u << index : threadgroup_slots_ & ~(1u << index);
}

void EncoderObject::move_offset(unsigned index, std::size_t offset) {
  Slot& place = slot(index);
  if (!(memory_slots_ >> index & 1)) fail(Fault::misuse, fmt::format("no buffer is bound at index {}", index));
  place.offset = offset;
}

void EncoderObject::check(const char* what, Size group) const {
  if (!pipeline) fail(Fault::misuse, fmt::format("{} without a compute pipeline state", what));
  if (group.volume() > pipeline->max_threads) {
    fail(Fault::value, fmt::format("Threadgroup size exceeds {} limit", pipeline->max_threads));
  }
}

// A GPU's threadgroup memory does not end where a kernel's length does, and a write a little beyond it does no harm
// there: ggml's flash attention zeroes up to 384 bytes too many. The checker and the debug layer see the length as it
// was given.
std::size_t EncoderObject::slack_behind(std::uint32_t threadgroup) const {
  constexpr std::size_t slack = 512;
  if (threadgroup == 0 || is_checking() || is_validating()) return 0;
  const auto aligned = [](std::size_t size) { return (size + 15) / 16 * 16; };
  std::size_t used = aligned(pipeline->kernel.static_threadgroup_memory_length());
  for_each_bit(threadgroup, [&](unsigned index) { used += aligned(threadgroup_[index]); });
  return used < max_threadgroup_memory_bytes ? std::min(slack, max_threadgroup_memory_bytes - used) : 0;
}

void EncoderObject::bind(Dispatch& dispatch, std::uint32_t buffers, std::uint32_t threadgroup) const {
  for_each_bit(buffers & memory_slots_,
               [&](unsigned index) { dispatch.buffer(index, slots_[index].buffer, slots_[index].offset); });
  for_each_bit(buffers & bytes_slots_, [&](unsigned index) {
    const std::span<const std::byte> bytes = slots_[index].bytes;
    if (is_checking() || is_validating()) {
      dispatch.bytes(index, bytes.subspan(bytes_margin, bytes.size() - 2 * bytes_margin));
    } else {
      dispatch.bytes(index, bytes, ElementType::none, bytes_margin);
    }
  });
  const std::size_t behind = slack_behind(threadgroup);
  for_each_bit(threadgroup, [&](unsigned index) {
    const bool is_last = threadgroup >> index == 1;
    dispatch.threadgroup_memory(index, threadgroup_[index] + (is_last ? behind : 0));
  });
  for (const Dispatch::Use& one : used_) dispatch.use(one.buffer, one.access);
  if (is_checking()) dispatch.label(launch());
  if (host().complete) host().complete(dispatch);
}

// By their labels, as far as they have some.
std::string EncoderObject::launch() const {
  if (!commands_) return {};
  const std::string encoder = number != 0 ? commands_->encoders[number - 1] : std::string();
  std::string text;
  if (!encoder.empty()) text = fmt::format("encoder '{}'", encoder);
  if (!commands_->label.empty()) {
    text += fmt::format("{}command buffer '{}'", text.empty() ? "" : " of ", commands_->label);
  }
  return text;
}

void EncoderObject::run(const char* what, Size grid, Size group, bool counts_threads) {
  check(what, group);
  if (grid.volume() == 0) return;
  const std::uint32_t buffers = pipeline->buffers & (memory_slots_ | bytes_slots_),
                      threadgroup = pipeline->threadgroup & threadgroup_slots_;
  std::unique_ptr<PipelineObject::Prepared> prepared(pipeline->prepared.exchange(nullptr));
  if (!prepared || prepared->buffers != buffers || prepared->threadgroup != threadgroup) {
    prepared.reset(new PipelineObject::Prepared{{}, buffers, threadgroup});
  }
  Dispatch& dispatch = prepared->dispatch;
  bind(dispatch, buffers, threadgroup);
  counts_threads ? dispatch.threads(grid, group) : dispatch.threadgroups(grid, group);
  launched.fetch_add(1, std::memory_order_relaxed);
  if (commands_) {
    commands_->dispatch(pipeline->kernel, dispatch);
  } else {
    raising([&] { Stream::current().dispatch(pipeline->kernel, dispatch); });
  }
  if ((buffers & owned_slots_) == 0 && dispatch.uses().empty()) {
    prepared.reset(pipeline->prepared.exchange(prepared.release()));
  }
}

// The sizes are read when its turn comes.
void EncoderObject::dispatch_threadgroups(const Buffer& indirect, std::size_t offset,
                                          std::array<std::uint64_t, 3> group) {
  const Size threads = size_of(group);
  check("dispatchThreadgroupsWithIndirectBuffer", threads);
  Dispatch dispatch;
  bind(dispatch, pipeline->buffers & (memory_slots_ | bytes_slots_), pipeline->threadgroup & threadgroup_slots_);
  launched.fetch_add(1, std::memory_order_relaxed);
  auto work = [kernel = pipeline->kernel, dispatch = std::move(dispatch), indirect, offset, threads]() mutable {
    std::array<std::uint32_t, 3> groups = {};
    indirect.read(offset, std::as_writable_bytes(std::span(groups)));
    const Size grid = {groups[0], groups[1], groups[2]};
    if (grid.volume() != 0) metalloid::run(kernel, dispatch.threadgroups(grid, threads));
  };
  commands_ ? commands_->call(std::move(work)) : Stream::current().call(std::move(work));
}

void EncoderObject::dispatch_threads(std::array<std::uint64_t, 3> grid, std::array<std::uint64_t, 3> group) {
  run("dispatchThreads", size_of(grid), size_of(group), true);
}

void EncoderObject::dispatch_threadgroups(std::array<std::uint64_t, 3> groups, std::array<std::uint64_t, 3> group) {
  run("dispatchThreadgroups", size_of(groups), size_of(group), false);
}

void EncoderObject::dispatch_jobs(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  if (!pipeline) fail(Fault::misuse, "dispatch without a compute pipeline state");
  const Size grid = size_of({x, y, z});
  run("dispatchThreads", grid, pipeline->kernel.filled_threadgroup(grid), true);
}

std::uint64_t launches() { return launched.load(std::memory_order_relaxed); }

CompileOptions program_options() {
  CompileOptions options;
  if (!is_validating()) options.thread_overruns = ThreadOverruns::ignore;
  return options;
}

LibraryObject* compile_library(const std::string& source, const void* options, DeviceObject* device) {
  const CompileOptions* given = options ? &object_of<CompileOptionsObject>(options)->options : nullptr;
  const auto own = host().compile_options;
  const CompileOptions chosen = own ? own(source, given) : given ? *given : program_options();
  std::vector<LibraryPart> parts;
  parts.emplace_back(device->device.make_library(source, chosen));
  return make_object<LibraryObject>(std::move(parts), device);
}

LibraryObject* load_library(std::string_view bytes, DeviceObject* device) {
  std::vector<LibraryPart> parts;
  for (PackedLibrary& one : unpack(bytes)) parts.emplace_back(std::move(one), device);
  return make_object<LibraryObject>(std::move(parts), device);
}

LibraryObject* load_library_file(const std::string& path, DeviceObject* device) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  if (!file || std::filesystem::is_directory(path, error)) {
    throw Error(ErrorCode::input_output, fmt::format("library not found: {}", path));
  }
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  try {
    return load_library(bytes, device);
  } catch (const Error& failure) {
    throw Error(failure.code(), fmt::format("{}: {}", path, failure.what()));
  }
}

}  // namespace metalloid::metal
