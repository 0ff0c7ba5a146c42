// ring_tiles
//
//   for (...) {                       for (...) {
//     barrier                           tile = ring[turn % 3]
//     tile[...] = a[...]      ->        tile[...] = a[...]
//     barrier                           barrier
//     ... tile ...                      ... tile ...
//   }                                 }
//
// A tile of threadgroup memory may be written while others are read, so that copies for two turns ahead can be on
// their way (copy_ahead), and one barrier of a turn does. It may as well be the one at the turn's end.
//
// Of variables that only such a loop uses, and that it writes at the same places in every turn, in pieces of 16 bytes
// of memory that nobody writes: nothing of a turn is left for a later one. A thread that writes a tile of the ring has
// met all others since they read it, at the barrier of the turn between. The loop does nothing else that other threads
// see: so that barrier orders what is in front of the loop and behind it, too.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>

namespace metalloid::engines::cuda {

inline constexpr unsigned ring_stages = 3;

// The bytes of threadgroup memory that the launch has to bring for rings, in front of arguments.
std::uint32_t ring_tiles(llvm::Function& function);

// Whether an address is in such a ring.
bool is_in_ring(const llvm::Value& pointer);

}  // namespace metalloid::engines::cuda
