// Buffers: own memory or the caller's.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "metalloid/device.h"

namespace metalloid {
namespace {

constexpr std::size_t alignment = 128;
constexpr std::size_t large = 1 << 20;

}  // namespace

Buffer::Buffer(std::size_t size) : size_(size) {
  if (size >= large) {
    // Fresh pages are zero without being touched.
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    ::madvise(memory, size, MADV_HUGEPAGE);
    memory_ = memory;
    owner_ = std::shared_ptr<void>(memory, [size](void* address) { ::munmap(address, size); });
    return;
  }
  std::size_t rounded = (std::max(size, std::size_t{1}) + alignment - 1) / alignment * alignment;
  memory_ = std::aligned_alloc(alignment, rounded);
  if (!memory_) throw std::bad_alloc();
  std::memset(memory_, 0, rounded);
  owner_ = std::shared_ptr<void>(memory_, [](void* address) { std::free(address); });
}

Buffer Buffer::wrap(void* memory, std::size_t size, std::shared_ptr<void> owner) {
  Buffer buffer;
  buffer.memory_ = memory;
  buffer.size_ = size;
  buffer.owner_ = std::move(owner);
  return buffer;
}

}  // namespace metalloid
