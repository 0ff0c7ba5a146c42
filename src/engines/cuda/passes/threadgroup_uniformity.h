// What all threads of a threadgroup have in common.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace metalloid::engines::cuda {

// Of an entry whose operations across lanes are the GPU's already.
class ThreadgroupUniformity {
 public:
  explicit ThreadgroupUniformity(llvm::Function& function);

  // Whether threads that compute it together get one result. What they read at one address is one, or a race.
  bool is_same(const llvm::Value* value) const { return !uniformity_->isDivergent(value); }
  // Whether all threads come there, but those that ended because of an access outside, each as often as the others.
  bool is_for_all(const llvm::BasicBlock* block) const { return !apart_.contains(block); }

 private:
  llvm::FunctionAnalysisManager analyses_;
  llvm::UniformityInfo* uniformity_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> apart_;
};

}  // namespace metalloid::engines::cuda
