#include "engines/reference/thread_memory.h"

#include <sys/mman.h>

#include <new>

namespace metalloid::engines::reference {

void ThreadMemory::reserve(std::uint32_t count, std::size_t bytes) {
  // Kept from kernel to kernel, but not what a single large one once needed.
  constexpr std::size_t most_surplus = std::size_t{64} << 20;
  // An odd number of units, or the first-level cache would keep the same few lines for the starts of all pieces.
  constexpr std::size_t unit = 128;
  stride_ = bytes == 0 ? 0 : ((bytes + unit - 1) / unit | 1) * unit;
  const std::size_t wanted = stride_ * count;
  if (wanted <= mapped_ && mapped_ - wanted <= most_surplus) return;
  release();
  if (wanted == 0) return;
  // Mapped, not allocated: pages that no thread touches cost nothing.
  void* memory = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
  mapped_ = wanted;
}

void ThreadMemory::release() {
  if (memory_) ::munmap(memory_, mapped_);
  memory_ = nullptr;
  mapped_ = 0;
}

}  // namespace metalloid::engines::reference
