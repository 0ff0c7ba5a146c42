// Which branches of a kernel all lanes of a simdgroup take alike.
#pragma once

#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

#include "metalloid/reflection.h"

namespace metalloid::ir {

// Of a specialised kernel, whose parameters are the arguments, or of a function that stays a call. Lanes that execute
// an instruction together get one result unless it depends on which thread they are, on what they have in their own
// variables, or on an order among them.
class LaneUniformity {
 public:
  LaneUniformity(llvm::Function& function, const KernelInfo& info);

  // Whether lanes that come to the block's end together may go on to different blocks.
  bool diverges(const llvm::BasicBlock& block) const { return uniformity_->hasDivergentTerminator(block); }

 private:
  llvm::FunctionAnalysisManager analyses_;
  llvm::UniformityInfo* uniformity_;
};

}  // namespace metalloid::ir
