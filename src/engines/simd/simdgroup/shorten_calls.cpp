#include "engines/simd/simdgroup/shorten_calls.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/IPO/DeadArgumentElimination.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "ir/support/pass_managers.h"

namespace metalloid::engines::simd {
namespace {

unsigned results_of(const llvm::Function& function) {
  llvm::Type* type = function.getReturnType();
  if (type->isVoidTy()) return 0;
  return type->isStructTy() ? type->getStructNumElements() : 1;
}

// Without calls and branches, and no more code than the moves that a call takes: half as much again, since a
// comparison and a choice are often one instruction.
bool is_cheaper_inlined(const llvm::Function& function) {
  if (function.isDeclaration() || !function.hasLocalLinkage() || function.size() != 1) return false;
  unsigned size = 0;
  for (const llvm::Instruction& instruction : function.front()) {
    if (instruction.isDebugOrPseudoInst() || instruction.isTerminator()) continue;
    if (llvm::isa<llvm::InsertValueInst, llvm::ExtractValueInst>(instruction)) continue;
    if (llvm::isa<llvm::CallBase, llvm::AllocaInst>(instruction)) return false;
    ++size;
  }
  const auto moves = static_cast<unsigned>(function.arg_size()) + results_of(function) + 1;
  return 2 * size <= 3 * moves;
}

void inline_calls(llvm::Function& function) {
  for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    if (!call || call->getCalledOperand() != &function) continue;
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info, /*MergeAttributes=*/false);
  }
  if (function.use_empty()) function.eraseFromParent();
}

}  // namespace

void shorten_calls(llvm::Module& module) {
  ir::PassManagers managers;
  llvm::DeadArgumentEliminationPass().run(module, managers.modules);
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (is_cheaper_inlined(function)) inline_calls(function);
  }
}

}  // namespace metalloid::engines::simd
