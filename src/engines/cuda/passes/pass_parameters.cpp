#include "engines/cuda/passes/pass_parameters.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include "engines/cuda/kernel_abi.h"
#include "ir/support/pass_down.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

constexpr auto lost_attributes = {llvm::Attribute::WillReturn, llvm::Attribute::MustProgress, llvm::Attribute::NoSync,
                                  llvm::Attribute::NoFree, llvm::Attribute::Speculatable};

void forget_effects(llvm::Function& function) {
  for (const auto attribute : lost_attributes) function.removeFnAttr(attribute);
  function.setMemoryEffects(llvm::MemoryEffects::unknown());
  function.addFnAttr(llvm::Attribute::NoInline);
  function.addFnAttr("disable-tail-calls", "true");
  for (llvm::User* user : function.users()) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    for (const auto attribute : lost_attributes) call->removeFnAttr(attribute);
    call->setMemoryEffects(llvm::MemoryEffects::unknown());
  }
}

// Of calls through pointers that are choices now.
void drop_tables_of_functions(llvm::Module& module) {
  ir::PassManagers managers;
  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, managers.modules);
}

}  // namespace

std::vector<Entry> pass_parameters(llvm::Module& module, const Entry& entry) {
  const auto kept = [&] {
    llvm::SmallVector<llvm::Function*, 8> functions;
    for (llvm::Function& function : module) {
      if (!function.isDeclaration() && &function != entry.function) functions.push_back(&function);
    }
    return functions;
  };
  if (kept().empty()) return {entry};
  drop_tables_of_functions(module);
  llvm::BasicBlock& first = entry.function->getEntryBlock();
  llvm::IRBuilder<> builder(&first, first.getFirstNonPHIOrDbgOrAlloca());
  Value* stack = builder.CreatePtrToInt(builder.CreateStackSave(), builder.getInt64Ty());
  Value* stack_end = builder.CreateSub(stack, builder.getInt64(recursion_stack_bytes), "stack_end");
  for (Value* value : {entry.parameters, stack_end}) {
    ir::pass_down(module, kept(), value->getType(), value->getName(),
                  [&](llvm::Function& /*kernel*/) { return value; });
  }
  std::vector<Entry> entries = {entry};
  for (llvm::Function* function : kept()) {
    forget_effects(*function);
    Entry own;
    own.function = function;
    own.parameters = function->getArg(function->arg_size() - 2);
    own.lane_order = entry.lane_order;
    entries.push_back(own);
  }
  return entries;
}

}  // namespace metalloid::engines::cuda
