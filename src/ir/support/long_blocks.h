// Blocks of thousands of instructions, and of few.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace metalloid::ir {

// Generators of constraints write one block of up to 100,000 instructions. Much of LLVM, and some of what is here,
// takes time that grows with the square of a block's length: it numbers all of it anew when one instruction has been
// put into it, looks from each end of a variable's life at all the ends before it, or selects instructions for it at
// once. So blocks that are longer than `longest` become several of `part` instructions, one behind the other. Shorter
// ones stay: what is in one block can be joined, and selected as one.
bool split_long_blocks(llvm::Function& function, unsigned longest = 4000, unsigned part = 1000);

struct SplitLongBlocksPass : llvm::PassInfoMixin<SplitLongBlocksPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// Blocks one behind the other become one. What makes values of variables looks for each variable at all blocks below
// the one that writes it: it takes half as long.
void join_blocks(llvm::Function& function);

}  // namespace metalloid::ir
