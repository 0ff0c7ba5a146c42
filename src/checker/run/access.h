// One access as the checker sees it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "checker/code/operations.h"
#include "checker/run/watch.h"

namespace metalloid::checker {

struct Watch::Access {
  std::byte* address;
  std::byte* base;  // of the memory that the address comes from
  std::uint64_t size;
  std::uint32_t root;
  std::uint64_t bytes, value;
  std::uint32_t flags, thread;
  const Site* site;
  std::uint64_t front = 0;  // bytes in front of the base that belong to it, too
  Space space = Space::device;
  bool is_private = false;    // of the thread's own or of the program: nobody races there
  bool is_elsewhere = false;  // memory that the dispatch did not bind

  bool writes() const { return (flags & access_writes) != 0; }
  bool is_atomic() const { return (flags & access_atomic) != 0; }
  std::int64_t offset() const { return address - base; }
  bool overlaps(const Access& other) const {
    return address < other.address + other.bytes && other.address < address + bytes;
  }
  bool is_inside() const {
    const std::uint64_t all = front + size;
    return bytes <= all && static_cast<std::uint64_t>(offset()) + front <= all - bytes;
  }
  std::uint32_t element_bytes() const { return element_bytes_of(flags); }
};

struct Watch::FirstStore {
  Access access;
  std::uint32_t time;  // of its simdgroup
};

// Of a threadgroup by its number, cut where the grid ends.
Size threads_of(const WatchedGrid& grid, std::uint32_t threadgroup);
Size position_of(const WatchedGrid& grid, std::uint32_t threadgroup);

}  // namespace metalloid::checker
