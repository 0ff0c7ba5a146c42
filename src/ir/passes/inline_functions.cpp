#include "ir/passes/inline_functions.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/STLExtras.h>
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

#include "ir/operations.h"
#include "ir/passes/initialisers.h"
#include "ir/passes/inline_choice.h"
#include "ir/passes/take_operations.h"
#include "ir/support/long_blocks.h"
#include "ir/support/pass_down.h"
#include "ir/support/pass_managers.h"

namespace metalloid::ir {
namespace {

bool calls_itself(const llvm::Function& function) {
  for (const llvm::User* user : function.users()) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    if (call && call->getFunction() == &function) return true;
  }
  return false;
}

// All functions with bodies, callees before callers, and which of them are part of a call cycle.
std::vector<llvm::Function*> in_call_order(llvm::Module& module, FunctionSet& recursive) {
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

// Of the functions in `order`; what stays a call is in `kept`.
bool inline_calls(llvm::Function& caller, const FunctionSet& kept) {
  llvm::SmallVector<llvm::CallBase*, 16> calls;
  for (llvm::Instruction& instruction : llvm::instructions(caller)) {
    llvm::Function* callee = called_definition(instruction);
    if (!callee || callee == &caller || kept.contains(callee)) continue;
    auto& call = llvm::cast<llvm::CallBase>(instruction);
    if (!call.isNoInline()) calls.push_back(&call);
  }
  for (llvm::CallBase* call : calls) {
    llvm::Function* callee = call->getCalledFunction();
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*call, info, /*MergeAttributes=*/false).isSuccess()) continue;
    if (callee->use_empty() && callee->hasLocalLinkage()) callee->eraseFromParent();
  }
  return !calls.empty();
}

void forget_noinline(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::NoInline);
  for (llvm::User* user : function.users()) {
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) call->removeFnAttr(llvm::Attribute::NoInline);
  }
}

// Barriers, and what is done with what lanes hold of a matrix or a tile.
FunctionSet functions_around_barriers(llvm::Module& module) {
  return functions_that_lead_to(module, [](llvm::StringRef name) {
    const bool is_of_tiles =
        name.starts_with("metalloid.matmul2d.") || name.starts_with("metalloid.cooperative_tensor.");
    return name == llvm::StringRef(threadgroup_barrier_name) || parse_matrix_operation(std::string_view(name)) ||
           (is_of_tiles && is_meeting(std::string_view(name)));
  });
}

void mark_kept(const FunctionSet& kept) {
  for (llvm::Function* function : kept) {
    function->removeFnAttr(llvm::Attribute::AlwaysInline);
    function->removeFnAttr(llvm::Attribute::InlineHint);
    function->addFnAttr(llvm::Attribute::NoInline);
    for (llvm::User* user : function->users()) {
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) call->removeFnAttr(llvm::Attribute::AlwaysInline);
    }
  }
}

// Those that a declaration asks to keep.
FunctionSet declared_noinline(llvm::ArrayRef<llvm::Function*> order, const llvm::Function& kernel) {
  FunctionSet result;
  for (llvm::Function* function : order) {
    if (function != &kernel && function->hasFnAttribute(llvm::Attribute::NoInline)) result.insert(function);
  }
  return result;
}

// Functions that lead to a function constant without a value: whether it is read may show only where they are called.
void inline_readers_of_undefined(const llvm::Module& module, FunctionSet& kept) {
  llvm::SmallVector<const llvm::Value*, 16> open;
  llvm::SmallPtrSet<const llvm::Value*, 16> seen;
  for (const llvm::GlobalVariable& global : module.globals()) {
    if (!global.use_empty() && is_undefined(global)) open.push_back(&global);
  }
  while (!open.empty()) {
    const llvm::Value* value = open.pop_back_val();
    if (!seen.insert(value).second) continue;
    for (const llvm::User* user : value->users()) {
      const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
      if (instruction) {
        open.push_back(instruction->getFunction());
      } else {
        open.push_back(user);  // an expression of constants
      }
    }
  }
  for (llvm::Function* function : llvm::SmallVector<llvm::Function*, 16>(kept.begin(), kept.end())) {
    if (!seen.contains(function)) continue;
    kept.erase(function);
    function->removeFnAttr(llvm::Attribute::NoInline);
  }
}

// What defines an operation, and no engine took (take_operations.h), is a layer around the code that does the work: it
// goes while it is small.
void inline_operations(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (defined_operation(function).empty()) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      if (!call || call->getCalledOperand() != &function) continue;
      llvm::InlineFunctionInfo info;
      llvm::InlineFunction(*call, info, /*MergeAttributes=*/false);
    }
    if (function.use_empty() && function.hasLocalLinkage()) function.eraseFromParent();
  }
}

}  // namespace

void inline_functions(KernelModule& kernel, const InlinePolicy& policy) {
  llvm::Module& module = *kernel.module;
  llvm::Function* entry = module.getFunction(kernel.info.symbol);
  inline_operations(module);
  FunctionSet never_kept;
  if (policy.around_barriers) never_kept = functions_around_barriers(module);
  for (llvm::Function& function : module) {
    if (policy.everything || policy.even_noinline || never_kept.contains(&function)) forget_noinline(function);
  }
  FunctionSet recursive;
  const std::vector<llvm::Function*> order = in_call_order(module, recursive);
  PassManagers managers;
  llvm::FunctionPassManager simplify;
  simplify.addPass(SplitLongBlocksPass());
  simplify.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  simplify.addPass(llvm::EarlyCSEPass());
  simplify.addPass(llvm::SimplifyCFGPass());
  const auto clean = [&](llvm::Function& function) {
    simplify.run(function, managers.functions);
    managers.functions.clear(function, function.getName());
  };
  FunctionSet kept;
  if (entry && !policy.everything) {
    if (may_be_large(order, *entry, recursive)) {
      for (llvm::Function* function : order) clean(*function);
      kept = choose_calls(order, *entry, recursive, never_kept, managers.functions);
      for (llvm::Function* function : order) managers.functions.clear(*function, function->getName());
    } else {
      kept = declared_noinline(order, *entry);
    }
    inline_readers_of_undefined(module, kept);
    mark_kept(kept);
  }
  kept.insert(recursive.begin(), recursive.end());
  for (llvm::Function* function : order) {
    inline_calls(*function, kept);
    clean(*function);
  }
}

}  // namespace metalloid::ir
