#include "blocks.h"

#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "memory.h"

namespace metalloid::torch_device {
namespace {

// Blocks are whole lines: c10::metal's atomics on types narrower than 4 bytes touch the whole word that an element lies
// in.
constexpr std::size_t line = 64, small = 4096;
// From here on blocks are kept.
constexpr std::size_t large = std::size_t{1} << 20;
// From here on they lie on huge pages: fewer are given by the system, and looked up by the processor.
constexpr std::size_t huge_page = std::size_t{2} << 20, huge = 2 * huge_page;
// How much is kept at most: a part of the machine's memory, of which the process may be allowed less.
constexpr std::size_t kept_part = 16, most_kept = std::size_t{1} << 30;

std::size_t round_up(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

// Sizes of large blocks have four leading bits, so that tensors of similar sizes fit into each other's.
std::size_t capacity_of(std::size_t size) {
  return size < large ? round_up(size, line) : round_up(size, std::bit_floor(size) / 8);
}

struct Block {
  void* begin;
  std::size_t capacity;
};

// Null if there is none.
void* block_of_system(std::size_t capacity) {
  if (capacity < huge) {
    void* block = nullptr;
    return ::posix_memalign(&block, line, capacity) == 0 ? block : nullptr;
  }
  void* memory = ::mmap(nullptr, capacity + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(memory);
  const std::size_t front = -reinterpret_cast<std::uintptr_t>(begin) % huge_page;
  if (front != 0) ::munmap(begin, front);
  ::munmap(begin + front + capacity, huge_page - front);
  ::madvise(begin + front, capacity, MADV_HUGEPAGE);
  return begin + front;
}

void give_to_system(const Block& block) noexcept {
  if (block.capacity < huge) return std::free(block.begin);
  ::munmap(block.begin, block.capacity);
}

class Kept {
 public:
  // Null if there is none.
  void* take(std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    const auto last =
        std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const Block& block) { return block.capacity == capacity; });
    if (last == blocks_.rend()) return nullptr;
    void* begin = last->begin;
    blocks_.erase(std::next(last).base());
    bytes_ -= capacity;
    lent_.insert_or_assign(begin, capacity);
    return begin;
  }

  void* lend(Block block) {
    if (block.begin == nullptr) return nullptr;
    const std::lock_guard lock(mutex_);
    lent_.insert_or_assign(block.begin, block.capacity);
    return block.begin;
  }

  // Oldest blocks make room. False: it was never lent.
  bool take_back(void* begin) {
    const std::size_t most = std::min(physical_memory() / kept_part, most_kept);
    std::vector<Block> gone;
    {
      const std::lock_guard lock(mutex_);
      const auto lent = lent_.find(begin);
      if (lent == lent_.end()) return false;
      blocks_.push_back({begin, lent->second});
      bytes_ += lent->second;
      lent_.erase(lent);
      auto end = blocks_.begin();
      for (; bytes_ > most; ++end) bytes_ -= end->capacity;
      gone.assign(blocks_.begin(), end);
      blocks_.erase(blocks_.begin(), end);
    }
    for (const Block& one : gone) give_to_system(one);
    return true;
  }

  void release() {
    std::vector<Block> gone;
    {
      const std::lock_guard lock(mutex_);
      gone.swap(blocks_);
      bytes_ = 0;
    }
    for (const Block& one : gone) give_to_system(one);
  }

  std::size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Block> blocks_;  // the oldest first
  std::unordered_map<void*, std::size_t> lent_;
  std::size_t bytes_ = 0;
};

// Small blocks by their number of lines, a few of each: the system's allocator searches for aligned ones.
class KeptSmall {
 public:
  void* take(std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    Blocks& blocks = of(capacity);
    return blocks.count == 0 ? nullptr : blocks.begins[--blocks.count];
  }

  bool keep(void* block, std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    Blocks& blocks = of(capacity);
    if (blocks.count == blocks.begins.size()) return false;
    blocks.begins[blocks.count++] = block;
    return true;
  }

  void release() {
    const std::lock_guard lock(mutex_);
    for (Blocks& blocks : by_lines_) {
      while (blocks.count != 0) c10::free_cpu(blocks.begins[--blocks.count]);
    }
  }

 private:
  struct Blocks {
    std::size_t count = 0;
    std::array<void*, 32> begins{};
  };
  Blocks& of(std::size_t capacity) { return by_lines_[capacity / line - 1]; }

  std::mutex mutex_;
  std::array<Blocks, small / line> by_lines_;
};

// Tensors may outlive static destructors.
Kept& kept = *new Kept;
KeptSmall& kept_small = *new KeptSmall;

}  // namespace

void* take_block(std::size_t size) {
  const std::size_t capacity = capacity_of(size);
  if (size >= large) {
    if (void* block = kept.take(capacity)) return block;
    if (void* block = kept.lend({block_of_system(capacity), capacity})) return block;
    release_kept_blocks();
    return kept.lend({block_of_system(capacity), capacity});
  }
  if (capacity <= small) {
    if (void* block = kept_small.take(capacity)) return block;
  }
  try {
    return c10::alloc_cpu(capacity);
  } catch (const c10::Error&) {  // names the CPU's allocator
    return nullptr;
  }
}

// The size is what the device's table had at the address, which somebody who adopted a part of the block may have
// changed.
void let_go_of_block(void* block, std::size_t size) noexcept {
  const bool may_be_large = size >= large || reinterpret_cast<std::uintptr_t>(block) % huge_page == 0;
  if (may_be_large && kept.take_back(block)) return;
  const std::size_t capacity = capacity_of(size);
  const bool fits = size != 0 && capacity <= small && ::malloc_usable_size(block) >= capacity;
  if (!fits || !kept_small.keep(block, capacity)) c10::free_cpu(block);
}

std::size_t kept_blocks() { return kept.bytes(); }
void release_kept_blocks() noexcept {
  kept.release();
  kept_small.release();
}

}  // namespace metalloid::torch_device
