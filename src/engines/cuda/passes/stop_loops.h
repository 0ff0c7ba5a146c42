// Lets the host stop kernels: loops of which nobody knows that they end look now and then whether it wants that.
#pragma once

#include "engines/cuda/passes/lower_arguments.h"

namespace metalloid::engines::cuda {

//   loop:                          loop:
//     ...                            %turns = phi [0, ...], [%turns + 1, ...]
//     br %c, label %loop, ...   ->   at each 16384th turn: if the host's word `stop` is set, end the thread
//                                    ...
//                                    br %c, label %loop, ...
//
// Loops of which can be said beforehand how many turns they have at most (ScalarEvolution) end by themselves, unless
// that is as many as two counters of 32 bits have together, or one of 64. Where such a loop has others in it, it looks
// by the GPU's clock, every 2^32 cycles.
bool stop_loops(const Entry& entry);

// In front of an instruction: if the host wants that, the thread ends.
void end_if_stopped(llvm::Instruction& before, const Entry& entry);

}  // namespace metalloid::engines::cuda
