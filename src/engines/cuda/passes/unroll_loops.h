// unroll_loops
//
//   br %more, %loop, %end, !llvm.loop !0    ->    !0 = {..., !{"llvm.loop.unroll.count", 8}}
//
// Innermost short loops that lanes do not meet in, and whose turns can be counted, do eight turns at once: a GPU's
// threads go on in the order of instructions, so that only instructions of other turns fill the time that one waits for
// another.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::cuda {

// Of an innermost loop with one way out, in which no lanes meet: whether it has no more instructions than that.
bool is_short(const llvm::Loop& loop, unsigned most_instructions);

void unroll_loops(llvm::Module& module);

// Of a module that is optimised: long loops with few reads of memory that nobody writes do two turns at once, so that
// reads of both are on their way.
void unroll_reading_loops(llvm::Module& module, llvm::TargetMachine& machine);

// unroll_arrays
//
//   for (row = 0; row < 4; ++row) sums[row] += ...;    is to be unrolled (llvm.loop.unroll.full), whatever it takes
//
// Loops of few turns that go along a thread's own array: what is then at known places of it is kept in registers, and
// arrays in memory cost more than code that is longer.
void unroll_arrays(llvm::Function& function);

}  // namespace metalloid::engines::cuda
