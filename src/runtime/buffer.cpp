// Buffers: own memory of the host or of a device, or the caller's.
#include <fmt/format.h>

#include <utility>

#include "engines/host_memory.h"
#include "metalloid/device.h"
#include "metalloid/error.h"
#include "runtime/states.h"

namespace metalloid {
namespace {

std::shared_ptr<void> allocate(engines::Memory& memory, std::size_t size) {
  return {memory.allocate(size),
          [&memory, size](void* address) { memory.release(static_cast<std::byte*>(address), size); }};
}

void check(std::size_t offset, std::size_t bytes, std::size_t size) {
  if (offset <= size && bytes <= size - offset) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} bytes at offset {} lie outside of a buffer of {} bytes", bytes, offset, size));
}

}  // namespace

Buffer::Buffer(std::size_t size) : size_(size), owner_(allocate(engines::host_memory(), size)) {
  memory_ = owner_.get();
}

Buffer::Buffer(const Device& device, std::size_t size, Storage storage) : size_(size) {
  engines::Hardware& hardware = *device.state().runners.front().hardware;
  space_ = storage == Storage::shared ? &hardware.shared_memory() : &hardware.memory();
  owner_ = allocate(*space_, size);
  memory_ = owner_.get();
}

Buffer Buffer::wrap(void* memory, std::size_t size, std::shared_ptr<void> owner) {
  Buffer buffer;
  buffer.memory_ = memory;
  buffer.size_ = size;
  buffer.owner_ = std::move(owner);
  return buffer;
}

Buffer Buffer::wrap(const Device& device, std::uint64_t address, std::size_t size, std::shared_ptr<void> owner) {
  Buffer buffer = wrap(reinterpret_cast<void*>(address), size, std::move(owner));
  buffer.space_ = &device.state().runners.front().hardware->memory();
  return buffer;
}

Buffer Buffer::part(std::size_t offset, std::size_t size, std::shared_ptr<void> owner) const {
  check(offset, size, size_);
  Buffer buffer = *this;
  buffer.memory_ = static_cast<std::byte*>(memory_) + offset;
  buffer.size_ = size;
  buffer.owner_ = std::move(owner);
  return buffer;
}

engines::Memory& Buffer::memory() const { return space_ ? *space_ : engines::host_memory(); }

void* Buffer::contents() const { return memory().host_can_reach() ? memory_ : nullptr; }

std::uint64_t Buffer::gpu_address() const { return reinterpret_cast<std::uint64_t>(memory_); }

void Buffer::read(std::size_t offset, std::span<std::byte> to) const {
  check(offset, to.size(), size_);
  memory().copy_out(to, static_cast<const std::byte*>(memory_) + offset);
}

void Buffer::write(std::size_t offset, std::span<const std::byte> from) const {
  check(offset, from.size(), size_);
  memory().copy_in(static_cast<std::byte*>(memory_) + offset, from);
}

}  // namespace metalloid
