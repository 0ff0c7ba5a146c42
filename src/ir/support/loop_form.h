// The form in which loops are changed: with a block in front, one way back, and values that leave it by phis.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace metalloid::ir {

// LLVM's LoopSimplify and LCSSA. Analyses from before count no more.
void form_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace metalloid::ir
