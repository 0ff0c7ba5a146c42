// What a function computes or loads once more.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace metalloid::engines::cpu {

// GVN, which also moves what only one of several ways lacks, asks of each load for all that may write before it, block
// by block: of a large program with many blocks that took a tenth of all time. There EarlyCSE, which asks a form of
// memory that is made once, finds the same up to a few loads in a thousand.
struct DropRepeatedPass : llvm::PassInfoMixin<DropRepeatedPass> {
  explicit DropRepeatedPass(unsigned least_large = 3000) : least_large_(least_large) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) const;

 private:
  unsigned least_large_;  // instructions
};

void drop_repeated(llvm::Function& function, unsigned least_large);

}  // namespace metalloid::engines::cpu
