#include "ir/passes/threadgroup_variables.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GlobalVariable.h>

namespace metalloid::ir {

ThreadgroupVariables lay_out_threadgroup_variables(llvm::Module& module) {
  ThreadgroupVariables result;
  const llvm::DataLayout& layout = module.getDataLayout();
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() != 3) continue;
    variable.removeDeadConstantUsers();
    if (variable.use_empty()) continue;
    result.size =
        llvm::alignTo(result.size, layout.getValueOrABITypeAlignment(variable.getAlign(), variable.getValueType()));
    result.places.push_back({&variable, result.size});
    result.size += layout.getTypeAllocSize(variable.getValueType());
  }
  return result;
}

}  // namespace metalloid::ir
