#include "engines/cpu_shared/run/threadgroup_memory.h"

#include <sys/mman.h>

#include <new>

#include "metalloid/reflection.h"
#include "support/fill.h"

namespace metalloid::engines::cpu {
namespace {

constexpr std::size_t writable = std::size_t{64} << 10;  // whole pages also where pages have 64 KiB
constexpr std::size_t readable = std::size_t{64} << 10;
constexpr std::size_t forbidden_below = std::size_t{16} << 20,
                      forbidden_above = std::size_t{64} << 20;  // addresses only
constexpr std::size_t alignment = 128;
static_assert(writable >= max_threadgroup_memory_bytes + alignment);

}  // namespace

std::byte* ThreadgroupMemory::block(std::size_t bytes) {
  if (mapping_.size() == 0) {
    mapping_.map(writable + readable, forbidden_below, forbidden_above);
    if (::mprotect(mapping_.begin() + writable, readable, PROT_READ) != 0) {
      mapping_.release();
      throw std::bad_alloc();
    }
  }
  return mapping_.begin() + writable - (bytes + alignment - 1) / alignment * alignment;
}

void poison_threadgroup_memory(std::byte* block, std::size_t bytes) {
  // C libraries store nothing by a masked store, and one to memory that is not writable takes 100 ns.
  if (bytes == 0) return;
  // NaN in float, half and bfloat, and large odd numbers as integers.
  support::fill_with({block, bytes}, 0x7fff7fff);
}

}  // namespace metalloid::engines::cpu
