#include "engines/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "support/made_once.h"

namespace metalloid::engines {
namespace {

constexpr std::size_t large = std::size_t{1} << 20;

std::size_t rounded(std::size_t bytes) {
  return (std::max(bytes, std::size_t{1}) + allocation_alignment - 1) / allocation_alignment * allocation_alignment;
}

}  // namespace

std::byte* HostReachedMemory::allocate(std::size_t bytes) {
  if (bytes >= large) {
    // Fresh pages are zero without being touched.
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<std::byte*>(memory);
  }
  void* memory = std::aligned_alloc(allocation_alignment, rounded(bytes));
  if (!memory) throw std::bad_alloc();
  std::memset(memory, 0, rounded(bytes));
  return static_cast<std::byte*>(memory);
}

void HostReachedMemory::release(std::byte* address, std::size_t bytes) noexcept {
  if (bytes >= large) {
    ::munmap(address, bytes);
  } else {
    std::free(address);
  }
}

void HostReachedMemory::copy_in(std::byte* to, std::span<const std::byte> from) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

void HostReachedMemory::copy_out(std::span<std::byte> to, const std::byte* from) {
  if (!to.empty()) std::memcpy(to.data(), from, to.size());
}

Memory& host_memory() {
  static constinit support::MadeOnce<HostReachedMemory> memory;
  return memory.get([] { return HostReachedMemory(MemoryKind::host); });
}

}  // namespace metalloid::engines
