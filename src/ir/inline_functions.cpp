#include "ir/inline_functions.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <vector>

#include "ir/pass_managers.h"

namespace metalloid::ir {
namespace {

bool calls_itself(const llvm::Function& function) {
  for (const llvm::User* user : function.users()) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    if (call && call->getFunction() == &function) return true;
  }
  return false;
}

// Non-recursive functions with bodies, callees before callers.
std::vector<llvm::Function*> in_call_order(llvm::Module& module, llvm::SmallPtrSetImpl<llvm::Function*>& recursive) {
  llvm::CallGraph graph(module);
  std::vector<llvm::Function*> order;
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component) {
    for (llvm::CallGraphNode* node : *component) {
      llvm::Function* function = node->getFunction();
      if (!function || function->isDeclaration()) continue;
      order.push_back(function);
      if (component->size() > 1 || calls_itself(*function)) recursive.insert(function);
    }
  }
  return order;
}

bool inline_calls(llvm::Function& caller, const llvm::SmallPtrSetImpl<llvm::Function*>& recursive) {
  llvm::SmallVector<llvm::CallBase*, 16> calls;
  for (llvm::Instruction& instruction : llvm::instructions(caller)) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (!call) continue;
    llvm::Function* callee = call->getCalledFunction();
    if (callee && callee != &caller && !callee->isDeclaration() && !recursive.contains(callee)) calls.push_back(call);
  }
  for (llvm::CallBase* call : calls) {
    llvm::Function* callee = call->getCalledFunction();
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*call, info, /*MergeAttributes=*/false).isSuccess()) continue;
    if (callee->use_empty() && callee->hasLocalLinkage()) callee->eraseFromParent();
  }
  return !calls.empty();
}

}  // namespace

void inline_functions(llvm::Module& module) {
  llvm::SmallPtrSet<llvm::Function*, 8> recursive;
  std::vector<llvm::Function*> order = in_call_order(module, recursive);
  PassManagers managers;
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  simplify.addPass(llvm::EarlyCSEPass());
  simplify.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function* function : order) {
    inline_calls(*function, recursive);
    simplify.run(*function, managers.functions);
    managers.functions.clear(*function, function->getName());
  }
}

}  // namespace metalloid::ir
