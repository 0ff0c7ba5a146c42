#include "authoring/guarded_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace metalloid::tuning {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t strip = 4 * page;
// Address space only. A threadgroup too large by a factor of 32 must still land in it for rows of usual length.
constexpr std::size_t forbidden = std::size_t{64} << 20;
constexpr std::byte pattern{0xa5};

}  // namespace

GuardedMemory::GuardedMemory(std::size_t size) : size_(size) {
  const std::size_t pages = (size + page - 1) / page * page;
  mapped_ = pages + 2 * (strip + forbidden);
  void* mapping = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  if (mprotect(mapping_ + forbidden, pages + 2 * strip, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping_, mapped_);
    throw std::bad_alloc();
  }
  data_ = mapping_ + forbidden + strip;
  std::ranges::fill(before(), pattern);
  std::ranges::fill(after(), pattern);
}

GuardedMemory::~GuardedMemory() { munmap(mapping_, mapped_); }

std::span<std::byte> GuardedMemory::before() const { return {data_ - strip, strip}; }

std::span<std::byte> GuardedMemory::after() const { return {data_ + size_, mapping_ + mapped_ - forbidden}; }

bool GuardedMemory::check_and_mend() {
  bool intact = true;
  for (const std::span<std::byte> side : {before(), after()}) {
    if (std::ranges::all_of(side, [](std::byte value) { return value == pattern; })) continue;
    intact = false;
    std::ranges::fill(side, pattern);
  }
  return intact;
}

}  // namespace metalloid::tuning
