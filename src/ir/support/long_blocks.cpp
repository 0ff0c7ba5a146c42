#include "ir/support/long_blocks.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>
#include <iterator>

namespace metalloid::ir {

bool split_long_blocks(llvm::Function& function, unsigned longest, unsigned part) {
  llvm::SmallVector<llvm::BasicBlock*, 4> long_ones;
  for (llvm::BasicBlock& block : function) {
    if (block.size() > longest) long_ones.push_back(&block);
  }
  for (llvm::BasicBlock* block : long_ones) {
    while (block->size() > 2 * std::size_t{part}) {
      // Variables of the lane stay where LLVM looks for them.
      auto place = std::next(block->begin(), part);
      while (llvm::isa<llvm::AllocaInst, llvm::PHINode>(*place)) ++place;
      if (place->isTerminator()) break;
      block = block->splitBasicBlock(place, "on");
    }
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
