#include "engines/cuda/passes/address_in_bytes.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <utility>

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
    // By what they go from, and by how many indices.
    llvm::MapVector<std::pair<llvm::Value*, unsigned>, llvm::SmallVector<GetElementPtrInst*, 4>> addresses;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* address = llvm::dyn_cast<GetElementPtrInst>(&instruction);
      // That pass looks into extensions alone.
      if (!address || !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(address->getOperand(address->getNumIndices())))
        continue;
      addresses[{address->getPointerOperand(), address->getNumIndices()}].push_back(address);
    }
    for (const auto& [begin, of_begin] : addresses) {
      const llvm::Type* type = of_begin.front()->getSourceElementType();
      if (llvm::all_of(of_begin, [&](const auto* each) { return each->getSourceElementType() == type; })) continue;
      for (GetElementPtrInst* each : of_begin) {
        if (!each->getSourceElementType()->isIntegerTy(8)) address_in_bytes(*each);
      }
    }
  }
}

}  // namespace metalloid::engines::cuda
