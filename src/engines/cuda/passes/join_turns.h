// join_turns
//
//   for (c = thread; c < n; c += 256)       if (all up to m = n - n % 1024 may go together)
//     out[c] = f(in[c])                 ->    for (c = 4 * thread; c < m; c += 1024)
//                                               out[c .. c + 3] = f(in[c .. c + 3])
//                                           for (c = m + thread; c < n; c += 256) ...
//
// Threads of a threadgroup that go along a row together, each with every 256th element, take neighbours instead, so
// that accesses have up to 16 bytes. Of threadgroups of a known size in x, and innermost loops of one block that
// nothing leaves but through memory.
//
// Valid because all threads come to the loop, and all that it has but the counter is the same for them: together they
// do the same turns, and nothing says who does which one. What a turn writes no other turn of any thread comes to, and
// between this loop and what else comes to that memory, or writes what the loop reads, all threads wait for each other.
// Accesses of all turns are asked for in front, as one: if one of them lies outside or rows are not aligned, each
// thread does its own turns, and reports are those of the threads that they are of.
#pragma once

#include <cstdint>

#include "engines/cuda/passes/lower_arguments.h"

namespace metalloid::engines::cuda {

// Checks of bounds are still calls, arguments lie apart (mark_apart.h), and threadgroups are rows of that many threads.
void join_turns(const Entry& entry, std::uint32_t threads);

}  // namespace metalloid::engines::cuda
