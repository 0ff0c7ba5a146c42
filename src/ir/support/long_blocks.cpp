#include "ir/support/long_blocks.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>

namespace metalloid::ir {

namespace {

// Where the parts begin, but for the first.
llvm::SmallVector<llvm::Instruction*, 16> beginnings(llvm::BasicBlock& block, unsigned part) {
  llvm::SmallVector<llvm::Instruction*, 16> found;
  std::size_t left = block.size();
  unsigned own = 0;
  for (llvm::Instruction& instruction : block) {
    // Variables of the lane stay where LLVM looks for them.
    if (own >= part && left > part && !llvm::isa<llvm::AllocaInst, llvm::PHINode>(instruction)) {
      found.push_back(&instruction);
      own = 0;
    }
    ++own;
    --left;
  }
  return found;
}

}  // namespace

bool split_long_blocks(llvm::Function& function, unsigned longest, unsigned part) {
  llvm::SmallVector<llvm::BasicBlock*, 4> long_ones;
  for (llvm::BasicBlock& block : function) {
    if (block.size() > longest) long_ones.push_back(&block);
  }
  for (llvm::BasicBlock* block : long_ones) {
    // From the end, so that each instruction moves once.
    const auto parts = beginnings(*block, part);
    for (llvm::Instruction* first : llvm::reverse(parts)) block->splitBasicBlock(first, "on");
  }
  return !long_ones.empty();
}

llvm::PreservedAnalyses SplitLongBlocksPass::run(llvm::Function& function,
                                                 llvm::FunctionAnalysisManager& /*analyses*/) {
  return split_long_blocks(function) ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

void join_blocks(llvm::Function& function) {
  for (llvm::BasicBlock& block : llvm::make_early_inc_range(function)) llvm::MergeBlockIntoPredecessor(&block);
}

}  // namespace metalloid::ir
