#include "engines/cpu_shared/code/relax_alignment.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace metalloid::engines::cpu {
namespace {

bool is_own_variable(const llvm::Value* pointer) {
  return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
}

}  // namespace

void relax_alignment(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
        if (!load->isAtomic() && !is_own_variable(load->getPointerOperand())) load->setAlignment(llvm::Align(1));
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        if (!store->isAtomic() && !is_own_variable(store->getPointerOperand())) store->setAlignment(llvm::Align(1));
      } else if (auto* transfer = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
        if (!is_own_variable(transfer->getDest())) transfer->setDestAlignment(llvm::Align(1));
        auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(transfer);
        if (copy && !is_own_variable(copy->getSource())) copy->setSourceAlignment(llvm::Align(1));
      } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        for (unsigned i = 0; i < call->arg_size(); ++i) {
          if (call->getArgOperand(i)->getType()->isPointerTy() && !call->isByValArgument(i)) {
            call->removeParamAttr(i, llvm::Attribute::Alignment);
          }
        }
      }
    }
    for (llvm::Argument& argument : function.args()) {
      if (!argument.hasByValAttr() && !argument.hasStructRetAttr()) argument.removeAttr(llvm::Attribute::Alignment);
    }
  }
}

}  // namespace metalloid::engines::cpu
