#include "engines/reference/threadgroup_memory.h"

#include <sys/mman.h>

#include <new>

#include "metalloid/reflection.h"

namespace metalloid::engines::reference {
namespace {

constexpr std::size_t writable = std::size_t{64} << 10;  // whole pages also where pages have 64 KiB
constexpr std::size_t readable = std::size_t{64} << 10;
constexpr std::size_t forbidden = std::size_t{64} << 20;  // address space only
constexpr std::size_t alignment = 128;
static_assert(writable >= max_threadgroup_memory_bytes + alignment);

}  // namespace

ThreadgroupMemory::~ThreadgroupMemory() {
  if (mapping_) ::munmap(mapping_, writable + readable + forbidden);
}

std::byte* ThreadgroupMemory::block(std::size_t bytes) {
  if (!mapping_) {
    constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* memory = ::mmap(nullptr, writable + readable + forbidden, PROT_NONE, kind, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    mapping_ = static_cast<std::byte*>(memory);
    if (::mprotect(mapping_, writable, PROT_READ | PROT_WRITE) != 0 ||
        ::mprotect(mapping_ + writable, readable, PROT_READ) != 0) {
      throw std::bad_alloc();
    }
  }
  return mapping_ + writable - (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace metalloid::engines::reference
