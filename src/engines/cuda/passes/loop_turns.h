// Values of a loop's turns, computed once more at another place: in front of the loop for its first turn, or in a turn
// for the next one. Of loops that are one block, whose test is at its end.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace metalloid::engines::cuda {

class LoopTurns {
 public:
  using Counters = llvm::SmallVector<llvm::PHINode*, 4>;

  explicit LoopTurns(llvm::Loop& loop);
  llvm::BasicBlock& block() const { return block_; }
  llvm::BasicBlock& before() const { return before_; }
  llvm::BranchInst* branch() const { return llvm::dyn_cast<llvm::BranchInst>(block_.getTerminator()); }

  // By arithmetic with what comes from outside of the loop or, as `counters`, from the turn before.
  bool can_be_made(llvm::Value* value, Counters& counters, unsigned depth = 16) const;
  // At the builder's place, of what `values` says of the turn.
  llvm::Value* make(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::ValueToValueMapTy& values) const;
  // What `values` says of the first turn.
  void begin(llvm::ValueToValueMapTy& values) const;
  // Whether another turn follows, of the branch, which can be made; at the builder's place in the block.
  llvm::Value* make_goes_on(llvm::IRBuilder<>& builder, llvm::ValueToValueMapTy& now) const;

 private:
  llvm::BasicBlock &block_, &before_;
};

// The first barrier of the threadgroup from a place in a block on, or null.
llvm::Instruction* barrier_from(llvm::Instruction* place);

// Calls `with` for each innermost loop that waits for the threadgroup and has no checks of bounds, once it is one
// block.
void for_turns_with_barriers(llvm::Function& function, llvm::function_ref<void(llvm::Loop& loop)> with);

}  // namespace metalloid::engines::cuda
