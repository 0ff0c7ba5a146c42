#include "ir/support/memory_alias.h"

#include <llvm/Passes/PassBuilder.h>

#include <utility>

#include "support/address_spaces.h"

namespace metalloid::ir {

llvm::AnalysisKey MemoryAliasAnalysis::Key;

llvm::AliasResult MemoryAliasResult::alias(const llvm::MemoryLocation& a, const llvm::MemoryLocation& b,
                                           llvm::AAQueryInfo& /*query*/, const llvm::Instruction* /*at*/) {
  const auto is_buffer = [](unsigned space) { return space == device_space || space == constant_space; };
  const unsigned first = a.Ptr->getType()->getPointerAddressSpace();
  const unsigned second = b.Ptr->getType()->getPointerAddressSpace();
  const bool is_apart =
      (first == threadgroup_space && is_buffer(second)) || (second == threadgroup_space && is_buffer(first));
  return is_apart ? llvm::AliasResult::NoAlias : llvm::AliasResult::MayAlias;
}

bool MemoryAliasResult::invalidate(llvm::Function& /*function*/, const llvm::PreservedAnalyses& /*preserved*/,
                                   llvm::FunctionAnalysisManager::Invalidator& /*invalidator*/) {
  return false;
}

MemoryAliasAnalysis::Result MemoryAliasAnalysis::run(llvm::Function& /*function*/,
                                                     llvm::FunctionAnalysisManager& /*managers*/) {
  return MemoryAliasResult();
}

void add_memory_alias(llvm::PassBuilder& builder, llvm::FunctionAnalysisManager& functions) {
  functions.registerPass([] { return MemoryAliasAnalysis(); });
  llvm::AAManager aliases = builder.buildDefaultAAPipeline();
  aliases.registerFunctionAnalysis<MemoryAliasAnalysis>();
  functions.registerPass([&] { return std::move(aliases); });
}

}  // namespace metalloid::ir
