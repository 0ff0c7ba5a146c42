#include "ir/passes/copy_bools.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Metadata.h>

namespace metalloid::ir {
namespace {

constexpr const char* mark = "metalloid.bool";

void copy_bools(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    const auto* byte = store ? llvm::dyn_cast<llvm::ZExtInst>(store->getValueOperand()) : nullptr;
    const auto* bit = byte ? llvm::dyn_cast<llvm::TruncInst>(byte->getOperand(0)) : nullptr;
    auto* load = bit ? llvm::dyn_cast<llvm::LoadInst>(bit->getOperand(0)) : nullptr;
    if (!load || load->getType() != byte->getType() || !bit->getType()->isIntegerTy(1)) continue;
    if (load->hasMetadata(mark)) store->setOperand(0, load);
  }
  for (llvm::Instruction& instruction : llvm::instructions(function)) instruction.setMetadata(mark, nullptr);
}

}  // namespace

void mark_bool(llvm::LoadInst& load) {
  if (!load.getType()->isIntegerTy(8) || !load.hasMetadata(llvm::LLVMContext::MD_range)) return;
  load.setMetadata(mark, llvm::MDNode::get(load.getContext(), {}));
}

void copy_bools(llvm::Module& module) {
  for (llvm::Function& function : module) copy_bools(function);
}

}  // namespace metalloid::ir
