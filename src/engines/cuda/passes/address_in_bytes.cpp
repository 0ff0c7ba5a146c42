#include "engines/cuda/passes/address_in_bytes.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace metalloid::engines::cuda {
namespace {

using llvm::GetElementPtrInst;

void address_in_bytes(GetElementPtrInst& address) {
  llvm::IRBuilder<> builder(&address);
  llvm::Value* bytes = llvm::emitGEPOffset(&builder, address.getDataLayout(), &address);
  llvm::Value* same = builder.CreatePtrAdd(address.getPointerOperand(), bytes, "", address.getNoWrapFlags());
  same->takeName(&address);
  address.replaceAllUsesWith(same);
  address.eraseFromParent();
}

}  // namespace

void address_in_bytes(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::MapVector<llvm::Value*, llvm::SmallVector<GetElementPtrInst*, 4>> addresses;  // by what they go from
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* address = llvm::dyn_cast<GetElementPtrInst>(&instruction);
      const bool is_of_interest = address && !address->hasAllConstantIndices() && !address->getType()->isVectorTy();
      if (is_of_interest) addresses[address->getPointerOperand()].push_back(address);
    }
    for (const auto& [pointer, of_pointer] : addresses) {
      const llvm::Type* type = of_pointer.front()->getSourceElementType();
      if (llvm::all_of(of_pointer, [&](const auto* each) { return each->getSourceElementType() == type; })) continue;
      for (GetElementPtrInst* each : of_pointer) {
        if (!each->getSourceElementType()->isIntegerTy(8)) address_in_bytes(*each);
      }
    }
  }
}

}  // namespace metalloid::engines::cuda
