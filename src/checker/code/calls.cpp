#include "checker/code/calls.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/DerivedTypes.h>

namespace metalloid::checker {

llvm::FunctionCallee operation(llvm::Module& module, std::string_view name, llvm::Type* result,
                               llvm::ArrayRef<llvm::Type*> parameters) {
  auto callee = module.getOrInsertFunction(llvm::StringRef(name), llvm::FunctionType::get(result, parameters, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly() | llvm::MemoryEffects::readOnly());
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->addFnAttr(llvm::Attribute::NoFree);
  return callee;
}

llvm::SmallVector<llvm::CallInst*, 16> calls_of(llvm::Module& module, std::string_view name) {
  llvm::SmallVector<llvm::CallInst*, 16> calls;
  if (llvm::Function* function = module.getFunction(llvm::StringRef(name))) {
    for (llvm::User* user : function->users()) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) calls.push_back(call);
    }
  }
  return calls;
}

}  // namespace metalloid::checker
