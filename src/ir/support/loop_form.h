// The form in which loops are changed: with a block in front, one way back, and values that leave it by phis.
#pragma once

#include <llvm/ADT/Twine.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace metalloid::ir {

// LLVM's LoopSimplify and LCSSA. Analyses from before count no more.
void form_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

// Another form of a loop, with values that leave it, in front of a block `behind` and with `dominator` as what
// dominates it. Nobody goes there yet. `values` gets what is what in it.
llvm::Loop* copy_loop(llvm::Loop& loop, llvm::BasicBlock* behind, llvm::BasicBlock* dominator, const llvm::Twine& name,
                      llvm::ValueToValueMapTy& values, llvm::LoopInfo& loops, llvm::DominatorTree& dominators);

}  // namespace metalloid::ir
