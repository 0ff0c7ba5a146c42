#include "support/guarded_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace metalloid::support {

void GuardedMapping::map(std::size_t bytes, std::size_t below, std::size_t above) {
  release();
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  bytes = (bytes + page - 1) / page * page;
  std::size_t all = 0;
  if (__builtin_add_overflow(bytes, below + above, &all)) throw std::bad_alloc();
  void* mapped = ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  std::byte* memory = static_cast<std::byte*>(mapped) + below;
  if (::mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(mapped, all);
    throw std::bad_alloc();
  }
  memory_ = memory;
  bytes_ = bytes;
  below_ = below;
  above_ = above;
}

void GuardedMapping::release() {
  if (memory_) ::munmap(memory_ - below_, below_ + bytes_ + above_);
  memory_ = nullptr;
  bytes_ = below_ = above_ = 0;
}

bool GuardedMapping::is_below(const void* address) const {
  auto* byte = static_cast<const std::byte*>(address);
  return memory_ && byte < begin() && byte >= begin() - below_;
}

bool GuardedMapping::is_above(const void* address) const {
  auto* byte = static_cast<const std::byte*>(address);
  return memory_ && byte >= end() && byte < end() + above_;
}

}  // namespace metalloid::support
