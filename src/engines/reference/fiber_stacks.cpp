#include "engines/reference/fiber_stacks.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "support/sanitizer.h"

namespace metalloid::engines::reference {
namespace {

constexpr std::size_t page = 4096;

// Each guard page splits a mapping in two, and a process may have 65,530 mappings. Beyond this many guards, stacks
// go without; the kernel's frames are small (KernelFacts::stack_bytes) unless it recurses.
constexpr std::uint32_t guard_budget = 24'000;
std::atomic<std::uint32_t> guards_used{0};

}  // namespace

FiberStacks::~FiberStacks() { release(); }

void FiberStacks::release() {
  if (!memory_) return;
  clean();
  ::munmap(memory_, mapped_);
  if (has_guards_) guards_used -= count_;
  memory_ = nullptr;
  count_ = 0;
}

void FiberStacks::reserve(std::uint32_t count, std::size_t bytes) {
  bytes = (bytes + 32 * 128 + page - 1) / page * page;
  if (memory_ && count <= count_ && bytes <= stride_ - guard_) return;
  count = std::max(count, count_);
  bytes = std::max(bytes, memory_ ? stride_ - guard_ : std::size_t{0});
  release();
  guard_ = page;
  stride_ = bytes + guard_;
  mapped_ = stride_ * count;
  void* memory = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // One touched page per stack is the usual case; huge pages would make each stack cost 2 MiB.
  ::madvise(memory, mapped_, MADV_NOHUGEPAGE);
  memory_ = static_cast<std::byte*>(memory);
  count_ = count;
  has_guards_ = (guards_used += count) <= guard_budget;
  if (!has_guards_) guards_used -= count;
  // The lowest stack always gets its guard: below it lies foreign memory.
  for (std::uint32_t i = 0; i < (has_guards_ ? count : 1); ++i) ::mprotect(memory_ + i * stride_, guard_, PROT_NONE);
}

bool FiberStacks::is_guard(const void* address) const {
  auto* byte = static_cast<const std::byte*>(address);
  if (!memory_ || byte < memory_ || byte >= memory_ + mapped_) return false;
  return static_cast<std::size_t>(byte - memory_) % stride_ < guard_;
}

void FiberStacks::clean() {
#if defined(METALLOID_ADDRESS_SANITIZER)
  if (memory_) __asan_unpoison_memory_region(memory_, mapped_);
#endif
}

}  // namespace metalloid::engines::reference
