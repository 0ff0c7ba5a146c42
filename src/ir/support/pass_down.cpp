#include "ir/support/pass_down.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "ir/support/change_signature.h"

namespace metalloid::ir {
namespace {

void pass(llvm::CallInst& call, llvm::Function& wider, llvm::Value* value) {
  llvm::SmallVector<llvm::Value*, 8> arguments(call.args());
  arguments.push_back(value);
  llvm::SmallVector<llvm::OperandBundleDef, 1> bundles;
  call.getOperandBundlesAsDefs(bundles);
  llvm::CallInst* longer =
      llvm::CallInst::Create(wider.getFunctionType(), &wider, arguments, bundles, "", call.getIterator());
  longer->setAttributes(call.getAttributes());
  longer->setCallingConv(call.getCallingConv());
  longer->copyMetadata(call);
  longer->takeName(&call);
  call.replaceAllUsesWith(longer);
  call.eraseFromParent();
}

}  // namespace

bool is_only_called(const llvm::Function& function) {
  return function.hasLocalLinkage() && llvm::all_of(function.uses(), [](const llvm::Use& use) {
           const auto* call = llvm::dyn_cast<llvm::CallInst>(use.getUser());
           return call && call->isCallee(&use);
         });
}

llvm::Function* called_definition(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && !callee->isDeclaration() ? callee : nullptr;
}

llvm::DenseMap<llvm::Function*, llvm::Value*> pass_down(llvm::Module& module, llvm::ArrayRef<llvm::Function*> users,
                                                        llvm::Type* type, llvm::StringRef name,
                                                        support::function_ref<llvm::Value*(llvm::Function&)> value_in) {
  llvm::SetVector<llvm::Function*> reached(users.begin(), users.end());
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (!is_only_called(*reached[i])) continue;
    for (llvm::User* user : reached[i]->users()) reached.insert(llvm::cast<llvm::CallInst>(user)->getFunction());
  }
  llvm::DenseMap<llvm::Function*, llvm::Value*> values;
  llvm::SmallVector<std::pair<llvm::Function*, llvm::Function*>, 8> changed;
  for (llvm::Function* function : reached) {
    if (!is_only_called(*function)) {
      values[function] = value_in(*function);
      continue;
    }
    llvm::Function& wider = widen(*function, type);
    llvm::Argument* value = wider.getArg(wider.arg_size() - 1);
    value->setName(name);
    values[&wider] = value;
    changed.push_back({function, &wider});
  }
  for (auto [function, wider] : changed) {
    for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      pass(*call, *wider, values.at(call->getFunction()));
    }
    function->eraseFromParent();
  }
  return values;
}

}  // namespace metalloid::ir
