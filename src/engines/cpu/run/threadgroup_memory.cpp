#include "engines/cpu/run/threadgroup_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "metalloid/reflection.h"

namespace metalloid::engines::cpu {
namespace {

constexpr std::size_t writable = std::size_t{64} << 10;  // whole pages also where pages have 64 KiB
constexpr std::size_t readable = std::size_t{64} << 10;
constexpr std::size_t forbidden_below = std::size_t{16} << 20,
                      forbidden_above = std::size_t{64} << 20;  // addresses only
constexpr std::size_t whole = forbidden_below + writable + readable + forbidden_above;
constexpr std::size_t alignment = 128;
static_assert(writable >= max_threadgroup_memory_bytes + alignment);

}  // namespace

ThreadgroupMemory::~ThreadgroupMemory() {
  if (writable_) ::munmap(writable_ - forbidden_below, whole);
}

std::byte* ThreadgroupMemory::block(std::size_t bytes) {
  if (!writable_) {
    constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* memory = ::mmap(nullptr, whole, PROT_NONE, kind, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    std::byte* start = static_cast<std::byte*>(memory) + forbidden_below;
    if (::mprotect(start, writable, PROT_READ | PROT_WRITE) != 0 ||
        ::mprotect(start + writable, readable, PROT_READ) != 0) {
      ::munmap(memory, whole);
      throw std::bad_alloc();
    }
    writable_ = start;
  }
  return writable_ + writable - (bytes + alignment - 1) / alignment * alignment;
}

void poison_threadgroup_memory(std::byte* block, std::size_t bytes) {
  // NaN in float, half and bfloat, and large odd numbers as integers.
  constexpr std::uint32_t poison = 0x7fff7fff;
  const std::size_t words = (bytes + sizeof(poison) - 1) / sizeof(poison);
  std::fill_n(reinterpret_cast<std::uint32_t*>(block), words, poison);
}

}  // namespace metalloid::engines::cpu
