// An access outside of its memory, as generated code reports it and as people read it.
#pragma once

#include <cstdint>
#include <string>

#include "metalloid/reflection.h"

namespace metalloid::engines {

// Of a thread whose index is not known.
inline constexpr std::uint32_t unknown_thread = ~std::uint32_t{0};

struct OutOfBounds {
  bool is_set = false;
  bool is_wrapped_row = false;  // it lies inside, but the engine cannot carry it out
  std::uint32_t thread = 0;     // its index in its threadgroup, or unknown_thread
  // All bytes of accesses that were checked at once, and what there is behind and in front of where offsets count from.
  // Offsets are signed numbers.
  std::uint64_t offset = 0, bytes = 0, available = 0, front = 0;
  // Texts of the memory and of the accesses at both ends (ir/bounds/check_bounds.h).
  const char* what = nullptr;
  const char *first = nullptr, *last = nullptr;
};

// The threadgroup of the thread that meant it.
struct ThreadgroupPlace {
  const std::uint32_t* position;                          // in the grid
  const std::uint32_t* dispatch_threads_per_threadgroup;  // nominal
  const std::uint32_t* threads_per_threadgroup;           // actual
};

// kernel 'blur' reads outside of argument 'x' (buffer 0): element 1024 of 1024 (bytes 4096 to 4099 of 4096) at
// blur.metal:12, thread (1024, 0, 0)
std::string describe(const OutOfBounds& access, const KernelInfo& kernel, const ThreadgroupPlace& place);

}  // namespace metalloid::engines
