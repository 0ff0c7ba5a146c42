// unroll_loops
//
//   br %more, %loop, %end, !llvm.loop !0    ->    !0 = {..., !{"llvm.loop.unroll.count", 4}}
//
// Innermost short loops that lanes do not meet in, and whose turns can be counted, do four turns at once: a GPU's
// threads go on in the order of instructions, so that only instructions of other turns fill the time that one waits for
// another.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::cuda {

// Of an innermost loop with one way out, in which no lanes meet: whether it has no more instructions than that.
bool is_short(const llvm::Loop& loop, unsigned most_instructions);

void unroll_loops(llvm::Module& module);

}  // namespace metalloid::engines::cuda
