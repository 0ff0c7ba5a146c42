// Memory that programs ask the system for and make buffers of.
#pragma once

#include <cstddef>

namespace metalloid::metal {

// Behind a buffer a GPU finds the next one's memory, and kernels read on there without knowing: products, a tile's rows
// behind a matrix that has more rows than one tile. Bytes of it that there are here at most.
inline constexpr std::size_t most_behind = 1 << 20;

// Bytes of nobody's behind memory that ends there, if vm_allocate gave it.
std::size_t memory_behind(const void* end);

// Whether these are whole pages that the process cannot write to, as of a file that it maps to read.
bool is_read_only(const void* begin, std::size_t size);

}  // namespace metalloid::metal
