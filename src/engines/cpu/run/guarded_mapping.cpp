#include "engines/cpu/run/guarded_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace metalloid::engines::cpu {

void GuardedMapping::map(std::size_t bytes) {
  release();
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  bytes = (bytes + page - 1) / page * page;
  const std::size_t all = bytes + 2 * guard_bytes;
  if (all < bytes) throw std::bad_alloc();
  void* mapped = ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  std::byte* memory = static_cast<std::byte*>(mapped) + guard_bytes;
  if (::mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(mapped, all);
    throw std::bad_alloc();
  }
  memory_ = memory;
  bytes_ = bytes;
}

void GuardedMapping::release() {
  if (memory_) ::munmap(memory_ - guard_bytes, bytes_ + 2 * guard_bytes);
  memory_ = nullptr;
  bytes_ = 0;
}

bool GuardedMapping::is_below(const void* address) const {
  auto* byte = static_cast<const std::byte*>(address);
  return memory_ && byte < begin() && byte >= begin() - guard_bytes;
}

bool GuardedMapping::is_above(const void* address) const {
  auto* byte = static_cast<const std::byte*>(address);
  return memory_ && byte >= end() && byte < end() + guard_bytes;
}

}  // namespace metalloid::engines::cpu
