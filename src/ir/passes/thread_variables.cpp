#include "ir/passes/thread_variables.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ReplaceConstant.h>

#include <algorithm>

#include "ir/support/pass_down.h"
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
    llvm::IRBuilder<> builder(&*function->getEntryBlock().getFirstInsertionPt());
    llvm::AllocaInst* place = builder.CreateAlloca(variable.getValueType(), nullptr, variable.getName());
    place->setAlignment(std::max(place->getAlign(), variable.getAlign().valueOrOne()));
    llvm::Value* own = place;
    if (own->getType() != variable.getType()) own = builder.CreateAddrSpaceCast(own, variable.getType());
    llvm::SetVector<llvm::Function*> users;
    for (llvm::User* user : variable.users()) {
      auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
      if (instruction && instruction->getFunction() != function) users.insert(instruction->getFunction());
    }
    auto addresses = pass_down(module, users.getArrayRef(), variable.getType(), variable.getName(),
                               [&](llvm::Function& other) -> llvm::Value* {
                                 if (&other == function) return own;
                                 throw Error(ErrorCode::unsupported,
                                             fmt::format("kernel '{}': a function that is called through a pointer "
                                                         "uses variable '{}', which holds an argument at program scope",
                                                         kernel.info.name, variable.getName().str()));
                               });
    addresses[function] = own;
    for (llvm::Use& use : llvm::make_early_inc_range(variable.uses())) {
      auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      if (user) use.set(addresses.at(user->getFunction()));
    }
    variable.eraseFromParent();
  }
}

}  // namespace metalloid::ir
