#include "metal_objects.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "../device/errors.h"
#include "../device/memory.h"
#include "tensors.h"

namespace metalloid::torch_host {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(Kind::count)> kind_names = {
    "NSObject",
    "MTLDevice",
    "MTLLibrary",
    "MTLFunction",
    "MTLComputePipelineState",
    "MTLBuffer",
    "MTLCommandQueue",
    "MTLCommandBuffer",
    "MTLComputeCommandEncoder",
    "MTLCompileOptions",
};

std::atomic<std::uint64_t> launched;

std::uint32_t extent(std::uint64_t value) {
  TORCH_CHECK(value <= std::numeric_limits<std::uint32_t>::max(),
              "Metal grids have at most 2^32 - 1 threads in one "
              "dimension, not ",
              value);
  return static_cast<std::uint32_t>(value);
}

Size size_of(const std::array<std::uint64_t, 3>& extents) {
  return {extent(extents[0]), extent(extents[1]), extent(extents[2])};
}

template <typename Use>
void for_each_bit(std::uint32_t bits, const Use& use) {
  for (; bits != 0; bits &= bits - 1) use(static_cast<unsigned>(std::countr_zero(bits)));
}

void give(CommandBufferObject* commands, std::function<void()> work) {
  commands ? commands->call(std::move(work)) : Stream::current().call(std::move(work));
}

}  // namespace

void check_kind(const void* handle, Kind kind) {
  const auto name = [](Kind which) { return kind_names.at(static_cast<std::size_t>(which)); };
  TORCH_CHECK_TYPE(is_object(handle), handle, " is no ", name(kind));
  const Kind found = static_cast<const Object*>(handle)->kind;
  TORCH_CHECK_TYPE(found == kind, "a ", name(kind), " is wanted here, not a ", name(found));
}

DeviceObject* default_device() {
  static DeviceObject* const device = make_object<DeviceObject>();
  return device;
}

LibraryObject::LibraryObject(const Object& head, std::vector<Library> libraries) : parts(std::move(libraries)) {
  kind = head.kind;
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

PipelineObject::PipelineObject(const Object& head, Kernel state) : kernel(std::move(state)) {
  kind = head.kind;
  max_threads = kernel.max_total_threads_per_threadgroup();
  for (const ArgumentInfo& argument : kernel.info().arguments) {
    if (argument.index >= buffer_slots) continue;
    if (argument.kind == ArgumentKind::buffer) buffers |= 1u << argument.index;
    if (argument.kind == ArgumentKind::threadgroup_memory) threadgroup |= 1u << argument.index;
  }
}

PipelineObject::~PipelineObject() { delete prepared.load(); }

Buffer memory_of(const void* handle) {
  if (is_object(handle)) return object_of<BufferObject>(handle)->buffer;
  const auto range = torch_device::allocation_at(handle);
  TORCH_CHECK_TYPE(range, handle, " is neither an MTLBuffer nor the memory of a tensor on mps");
  return Buffer::wrap(range->base, range->size);
}

void copy_memory(CommandBufferObject* commands, const void* source, std::size_t source_offset, const void* destination,
                 std::size_t destination_offset, std::size_t size) {
  const Buffer from = memory_of(source), to = memory_of(destination);
  TORCH_CHECK_VALUE(source_offset <= from.size() && size <= from.size() - source_offset &&
                        destination_offset <= to.size() && size <= to.size() - destination_offset,
                    "a copy of ", size, " bytes from ", source_offset, " to ", destination_offset,
                    " leaves buffers of ", from.size(), " and ", to.size(), " bytes");
  if (size == 0) return;
  give(commands, [=] {
    std::memmove(static_cast<char*>(to.contents()) + destination_offset,
                 static_cast<const char*>(from.contents()) + source_offset, size);
  });
}

void fill_memory(CommandBufferObject* commands, const void* buffer, std::size_t offset, std::size_t size,
                 std::byte value) {
  const Buffer memory = memory_of(buffer);
  TORCH_CHECK_VALUE(offset <= memory.size() && size <= memory.size() - offset, "bytes ", offset, " to ", offset + size,
                    " leave a buffer of ", memory.size());
  give(commands,
       [=] { std::memset(static_cast<char*>(memory.contents()) + offset, std::to_integer<int>(value), size); });
}

EncoderObject::EncoderObject(const Object& head, CommandBufferObject* commands) : commands_(retain(commands)) {
  kind = head.kind;
}

EncoderObject::~EncoderObject() { release(commands_); }

EncoderObject::Slot& EncoderObject::slot(unsigned index) {
  TORCH_CHECK(index < buffer_slots, "buffer index ", index, " is beyond the last one, ", buffer_slots - 1);
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
  TORCH_CHECK(size > 0, "no bytes for the argument at index ", index);
  Slot& place = slot(index);
  const auto* first = static_cast<const std::byte*>(bytes);
  place.bytes.assign(first, first + size);
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
  TORCH_CHECK(memory_slots_ >> index & 1, "no buffer is bound at index ", index);
  place.offset = offset;
}

void EncoderObject::run(const char* what, Size grid, Size group, bool counts_threads) {
  TORCH_CHECK(pipeline, what, " without a compute pipeline state");
  TORCH_CHECK_VALUE(group.volume() <= pipeline->max_threads, "Threadgroup size exceeds ", pipeline->max_threads,
                    " limit");
  if (grid.volume() == 0) return;
  const std::uint32_t buffers = pipeline->buffers & (memory_slots_ | bytes_slots_),
                      threadgroup = pipeline->threadgroup & threadgroup_slots_;
  std::unique_ptr<PipelineObject::Prepared> prepared(pipeline->prepared.exchange(nullptr));
  if (!prepared || prepared->buffers != buffers || prepared->threadgroup != threadgroup) {
    prepared.reset(new PipelineObject::Prepared{{}, buffers, threadgroup});
  }
  Dispatch& dispatch = prepared->dispatch;
  for_each_bit(buffers & memory_slots_,
               [&](unsigned index) { dispatch.buffer(index, slots_[index].buffer, slots_[index].offset); });
  for_each_bit(buffers & bytes_slots_, [&](unsigned index) { dispatch.bytes(index, slots_[index].bytes); });
  for_each_bit(threadgroup, [&](unsigned index) { dispatch.threadgroup_memory(index, threadgroup_[index]); });
  for (const Dispatch::Use& one : used_) dispatch.use(one.buffer, one.access);
  use_addressed(dispatch);
  counts_threads ? dispatch.threads(grid, group) : dispatch.threadgroups(grid, group);
  launched.fetch_add(1, std::memory_order_relaxed);
  torch_device::raising([&] {
    commands_ ? commands_->dispatch(pipeline->kernel, dispatch)
              : Stream::current().dispatch(pipeline->kernel, dispatch);
  });
  if ((buffers & owned_slots_) == 0 && dispatch.uses().empty()) {
    prepared.reset(pipeline->prepared.exchange(prepared.release()));
  }
}

void EncoderObject::dispatch_threads(std::array<std::uint64_t, 3> grid, std::array<std::uint64_t, 3> group) {
  run("dispatchThreads", size_of(grid), size_of(group), true);
}

void EncoderObject::dispatch_threadgroups(std::array<std::uint64_t, 3> groups, std::array<std::uint64_t, 3> group) {
  run("dispatchThreadgroups", size_of(groups), size_of(group), false);
}

void EncoderObject::dispatch_jobs(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  TORCH_CHECK(pipeline, "dispatch without a compute pipeline state");
  const Size grid = size_of({x, y, z});
  run("dispatchThreads", grid, pipeline->kernel.filled_threadgroup(grid), true);
}

}  // namespace metalloid::torch_host

// For Python (metalloid/mps/_plugin/extension.py): how many kernels operators have launched so far.
extern "C" __attribute__((visibility("default"))) std::uint64_t metalloid_torch_launches() {
  return metalloid::torch_host::launched.load(std::memory_order_relaxed);
}
