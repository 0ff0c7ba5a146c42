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
  Space space = Space::device;
  bool is_private = false;    // of the thread's own or of the program: nobody races there
  bool is_elsewhere = false;  // memory that the dispatch did not bind

  bool writes() const { return (flags & access_writes) != 0; }
  bool is_atomic() const { return (flags & access_atomic) != 0; }
  std::int64_t offset() const { return address - base; }
  std::uint32_t element_bytes() const { return flags >> access_element_shift; }
};

// Of a threadgroup by its number, cut where the grid ends.
Size threads_of(const WatchedGrid& grid, std::uint32_t threadgroup);
Size position_of(const WatchedGrid& grid, std::uint32_t threadgroup);

}  // namespace metalloid::checker
