#include "engines/cpu_shared/passes/lower_threadgroup_memory.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/ReplaceConstant.h>

#include <algorithm>
#include <cstddef>

#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/passes/thread_state.h"
#include "ir/passes/threadgroup_variables.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cpu {
namespace {

llvm::IRBuilder<> at_start_of(llvm::Function& function) {
  return llvm::IRBuilder<>(&function.getEntryBlock(), function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
}

llvm::Instruction* base_in(llvm::Function& function, llvm::Function& entry) {
  llvm::Value* state = state_in(function, entry);
  llvm::IRBuilder<> builder = at_start_of(function);
  if (auto* call = llvm::dyn_cast<llvm::Instruction>(state)) builder.SetInsertPoint(call->getNextNode());
  llvm::Value* address =
      builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), state, offsetof(ThreadgroupState, threadgroup_memory));
  llvm::LoadInst* base = builder.CreateLoad(builder.getPtrTy(threadgroup_space), address, "threadgroup_memory");
  // Never written while the kernel runs.
  base->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
  return base;
}

}  // namespace

std::uint32_t lower_threadgroup_memory(llvm::Module& module, llvm::Function& entry) {
  ir::ThreadgroupVariables variables = ir::lay_out_threadgroup_variables(module);
  llvm::SmallVector<llvm::Constant*, 8> constants;
  for (const auto& place : variables.places) constants.push_back(place.variable);
  llvm::convertUsersOfConstantsToInstructions(constants);
  llvm::DenseMap<llvm::Function*, llvm::Instruction*> bases;
  for (const auto& [variable, offset] : variables.places) {
    variable->removeDeadConstantUsers();
    for (llvm::Use& use : llvm::make_early_inc_range(variable->uses())) {
      auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      llvm::Instruction*& base = bases[user->getFunction()];
      if (!base) base = base_in(*user->getFunction(), entry);
      // Right behind the base, where it dominates every use.
      llvm::IRBuilder<> builder(base->getNextNode());
      use.set(builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset, variable->getName()));
    }
    variable->eraseFromParent();
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(variables.size, UINT32_MAX));
}

}  // namespace metalloid::engines::cpu
