// What the address spaces of the IR tell LLVM's alias analysis: threadgroup memory is no device or constant memory.
// Device and constant memory may be one buffer, and addresses without a space may lead anywhere (ir/module.h).
#pragma once

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/PassManager.h>

namespace llvm {
class PassBuilder;
}

namespace metalloid::ir {

class MemoryAliasResult : public llvm::AAResultBase {
 public:
  static llvm::AliasResult alias(const llvm::MemoryLocation& a, const llvm::MemoryLocation& b, llvm::AAQueryInfo& query,
                                 const llvm::Instruction* at);
  static bool invalidate(llvm::Function& function, const llvm::PreservedAnalyses& preserved,
                         llvm::FunctionAnalysisManager::Invalidator& invalidator);
};

class MemoryAliasAnalysis : public llvm::AnalysisInfoMixin<MemoryAliasAnalysis> {
 public:
  using Result = MemoryAliasResult;
  static Result run(llvm::Function& function, llvm::FunctionAnalysisManager& managers);

 private:
  friend llvm::AnalysisInfoMixin<MemoryAliasAnalysis>;
  static llvm::AnalysisKey Key;  // NOLINT(readability-identifier-naming): LLVM's
};

// To be called before the builder's own analyses are registered.
void add_memory_alias(llvm::PassBuilder& builder, llvm::FunctionAnalysisManager& functions);

}  // namespace metalloid::ir
