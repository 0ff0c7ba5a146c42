#include "ir/support/change_signature.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

namespace metalloid::ir {

llvm::Function& take_over(llvm::Function& old, llvm::FunctionType* type) {
  auto* function = llvm::Function::Create(type, old.getLinkage(), old.getAddressSpace(), "", old.getParent());
  function->copyAttributesFrom(&old);
  function->setComdat(old.getComdat());
  function->setSubprogram(old.getSubprogram());
  old.setSubprogram(nullptr);
  function->takeName(&old);
  function->splice(function->begin(), &old);
  return *function;
}

llvm::Function& widen(llvm::Function& old, llvm::ArrayRef<llvm::Type*> more) {
  llvm::SmallVector<llvm::Type*, 8> types(old.getFunctionType()->params());
  types.append(more.begin(), more.end());
  llvm::Function& wider = take_over(old, llvm::FunctionType::get(old.getReturnType(), types, /*isVarArg=*/false));
  for (llvm::Argument& before : old.args()) {
    llvm::Argument* parameter = wider.getArg(before.getArgNo());
    parameter->takeName(&before);
    before.replaceAllUsesWith(parameter);
  }
  return wider;
}

}  // namespace metalloid::ir
