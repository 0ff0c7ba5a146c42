// Where objects lie: one reserved range of addresses, so that an object and memory of a host's are told apart by their
// address alone.
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <mutex>
#include <new>

#include "metalloid/metal/object.h"

namespace metalloid::metal {
namespace {

constexpr std::size_t range_size = std::size_t{1} << 32;  // reserved, not used
constexpr std::size_t granule = 16;
constexpr std::size_t largest_kept = 8192;

struct Range {
  std::mutex mutex;
  std::byte* begin;
  std::byte* next;
  std::array<void*, largest_kept / granule + 1> free = {};
  std::size_t alive = 0;

  Range() {
    void* memory =
        mmap(nullptr, range_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    begin = next = static_cast<std::byte*>(memory);
  }
};

Range& range() {
  static Range& instance = *new Range;  // objects outlive static destructors
  return instance;
}

std::size_t rounded(std::size_t size) { return (size + granule - 1) / granule * granule; }

}  // namespace

void* allocate_object(std::size_t size) {
  Range& objects = range();
  const std::size_t bytes = rounded(size);
  const std::lock_guard lock(objects.mutex);
  ++objects.alive;
  if (bytes <= largest_kept) {
    void*& head = objects.free[bytes / granule];
    if (head) {
      void* object = head;
      std::memcpy(&head, static_cast<std::byte*>(object) + sizeof(void*), sizeof(void*));
      std::memset(object, 0, bytes);
      return object;
    }
  }
  if (bytes > range_size - static_cast<std::size_t>(objects.next - objects.begin)) throw std::bad_alloc();
  void* object = objects.next;
  objects.next += bytes;
  return object;
}

void free_object(void* object, std::size_t size) noexcept {
  Range& objects = range();
  const std::size_t bytes = rounded(size);
  const std::lock_guard lock(objects.mutex);
  --objects.alive;
  if (bytes > largest_kept) {
    madvise(object, bytes, MADV_DONTNEED);
    return;
  }
  // Behind the place of the class, which stays empty: messages to what is gone are told so.
  void*& head = objects.free[bytes / granule];
  std::memset(object, 0, sizeof(void*));
  std::memcpy(static_cast<std::byte*>(object) + sizeof(void*), &head, sizeof(void*));
  head = object;
}

bool is_object(const void* address) noexcept {
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(range().begin);
  return offset < range_size;
}

}  // namespace metalloid::metal

extern "C" std::size_t metalloid_live_objects() {
  auto& objects = metalloid::metal::range();
  const std::lock_guard lock(objects.mutex);
  return objects.alive;
}
