#include "engines/cpu_shared/passes/thread_state.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "engines/cpu_shared/kernel_abi.h"
#include "ir/operations.h"
#include "ir/support/pass_down.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cpu {
namespace {

constexpr const char* attribute_name = "metalloid.state";

// The functions whose code a value stands in, constant expressions included.
void collect_users(llvm::Value& value, llvm::SetVector<llvm::Function*>& functions,
                   llvm::SmallPtrSetImpl<llvm::Value*>& seen) {
  for (llvm::User* user : value.users()) {
    if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(user)) {
      functions.insert(instruction->getFunction());
    } else if (seen.insert(user).second) {
      collect_users(*user, functions, seen);
    }
  }
}

llvm::Value* look_up(llvm::Function& function) {
  llvm::BasicBlock& first = function.getEntryBlock();
  llvm::IRBuilder<> builder(&first, first.getFirstNonPHIOrDbgOrAlloca());
  auto current = function.getParent()->getOrInsertFunction(llvm::StringRef(current_name), builder.getPtrTy());
  auto* declaration = llvm::cast<llvm::Function>(current.getCallee());
  declaration->addFnAttr(llvm::Attribute::NoUnwind);
  declaration->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly(llvm::ModRefInfo::Ref));
  return builder.CreateCall(current);
}

}  // namespace

void pass_state_down(llvm::Module& module, llvm::Function& entry, StateUsers which) {
  llvm::SetVector<llvm::Function*> users;
  llvm::SmallPtrSet<llvm::Value*, 8> seen;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() == threadgroup_space) collect_users(variable, users, seen);
  }
  for (llvm::Function& function : module) {
    if (function.isDeclaration() && ir::is_meeting(function.getName())) collect_users(function, users, seen);
    if (!function.isDeclaration() && which == StateUsers::all) users.insert(&function);
  }
  users.remove(&entry);
  const auto states = ir::pass_down(
      module, users.getArrayRef(), llvm::PointerType::get(module.getContext(), 0), "state",
      [&](llvm::Function& function) { return &function == &entry ? entry.getArg(0) : look_up(function); });
  for (const auto& [function, state] : states) {
    auto* parameter = llvm::dyn_cast<llvm::Argument>(state);
    if (!parameter || function == &entry) continue;
    parameter->addAttr(llvm::Attribute::get(module.getContext(), attribute_name));
    parameter->addAttr(llvm::Attribute::NonNull);
  }
}

llvm::Value* state_in(llvm::Function& function, llvm::Function& entry) {
  return &function == &entry ? entry.getArg(0) : state_in_call(function);
}

llvm::Value* state_in_call(llvm::Function& function) {
  for (llvm::Argument& parameter : function.args()) {
    if (function.getAttributes().hasParamAttr(parameter.getArgNo(), attribute_name)) return &parameter;
  }
  return look_up(function);
}

}  // namespace metalloid::engines::cpu
