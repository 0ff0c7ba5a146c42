// One thread of CUDA's does what several of Metal's do that lie side by side in x, so that each access to memory is
// as wide as the GPU's widest.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>

#include "engines/cuda/passes/lower_arguments.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::cuda {

// Whether threads have nothing to do with each other, so that blocks may lie over the grid as the host likes: no
// barriers, no operations across lanes, no threadgroup memory, no atomics, no functions that stay calls.
bool threads_are_alone(const llvm::Module& module, const KernelInfo& info);

// In an entry of Placement::in_grid, its checks of bounds still calls. Returns how many threads one now does, the
// host's KernelFacts::joined_threads; 0 if that is of no use, and the entry of none.
//
// Before:                              After, by fours:
//
//   entry                                together (x = 4 * own + 0 .. 3) ----> return
//     x = metalloid_thread_x()             |  not all of the warp pass
//     guards, checks                     turn (x = 4 * first of warp + 32 * j + lane), j = 0 .. 3
//     loads, numbers, stores             the entry as it was, and the next turn where it returned
//
// Together is the way of the four to the last store, if nobody leaves it before (thread_path.h): what is the same for
// all once, numbers that differ one by one, accesses to a row of elements as one. Guards and checks of all four, that
// no index wraps between them, and that rows are aligned are asked before anything is stored. A warp that does not
// pass goes turn by turn from the beginning, and so that its accesses of a turn lie together: at odd addresses that is
// as fast as single threads are. What is read twice is what the first reading might have been.
//
// Blocks are whole warps and their sizes powers of two (run/launch_shape.h); a warp may lie over several rows.
//
// Valid because threads of a grid have no order: each one's own accesses keep theirs. Reports of accesses outside come
// from the turns, and so name the thread.
std::uint32_t join_threads(Entry& entry);

}  // namespace metalloid::engines::cuda
