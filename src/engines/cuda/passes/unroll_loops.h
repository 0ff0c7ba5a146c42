// unroll_loops
//
//   br %more, %loop, %end, !llvm.loop !0    ->    !0 = {..., !{"llvm.loop.unroll.count", 4}}
//
// Innermost short loops that lanes do not meet in, and whose turns can be counted, do four turns at once: a GPU's
// threads go on in the order of instructions, so that only instructions of other turns fill the time that one waits for
// another.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::cuda {

void unroll_loops(llvm::Module& module);

}  // namespace metalloid::engines::cuda
