#include "ir/passes/mark_constants.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "support/address_spaces.h"

namespace metalloid::ir {

void mark_constants(llvm::Module& module) {
  llvm::MDNode* nothing = llvm::MDNode::get(module.getContext(), {});
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || !load->isSimple() || load->getPointerAddressSpace() != constant_space) continue;
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, nothing);
    }
  }
}

}  // namespace metalloid::ir
