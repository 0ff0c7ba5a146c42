#include "ir/meetings.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>

#include "ir/operations.h"

namespace metalloid::ir {

const llvm::CallBase* first_meeting(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || callee->getName() == llvm::StringRef(turn_end_name)) continue;  // no place of the source
      if (is_meeting(callee->getName())) return call;
    }
  }
  return nullptr;
}

bool threads_meet(const llvm::Module& module) {
  if (first_meeting(module)) return true;
  const llvm::Function* thread = module.getFunction(llvm::StringRef(thread_index_name));
  if (!thread || thread->use_empty()) return false;
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() && function.hasAddressTaken()) return true;
  }
  return false;
}

}  // namespace metalloid::ir
