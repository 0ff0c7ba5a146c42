#include "ir/thread_variables.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ReplaceConstant.h>

#include "metalloid/error.h"

namespace metalloid::ir {
namespace {

constexpr const char* metadata_name = "metalloid.thread";

}  // namespace

void mark_thread_variable(llvm::GlobalVariable& variable) {
  variable.setMetadata(metadata_name, llvm::MDNode::get(variable.getContext(), {}));
}

bool is_thread_variable(const llvm::GlobalVariable& variable) { return variable.getMetadata(metadata_name) != nullptr; }

void place_thread_variables(KernelModule& kernel) {
  llvm::Module& module = *kernel.module;
  llvm::Function* function = module.getFunction(kernel.info.symbol);
  if (!function) return;
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals())) {
    if (!is_thread_variable(variable)) continue;
    llvm::convertUsersOfConstantsToInstructions({&variable});
    for (const llvm::User* user : variable.users()) {
      const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
      if (!instruction || instruction->getFunction() != function) {
        throw Error(ErrorCode::unsupported, fmt::format("kernel '{}': a recursive function uses variable '{}', which "
                                                        "holds an argument at program scope",
                                                        kernel.info.name, variable.getName().str()));
      }
    }
    llvm::IRBuilder<> builder(&*function->getEntryBlock().getFirstInsertionPt());
    llvm::Value* own = builder.CreateAlloca(variable.getValueType(), nullptr, variable.getName());
    if (own->getType() != variable.getType()) own = builder.CreateAddrSpaceCast(own, variable.getType());
    variable.replaceAllUsesWith(own);
    variable.eraseFromParent();
  }
}

}  // namespace metalloid::ir
