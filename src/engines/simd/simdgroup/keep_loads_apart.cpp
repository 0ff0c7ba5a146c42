#include "engines/simd/simdgroup/keep_loads_apart.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <vector>

namespace metalloid::engines::simd {

void keep_loads_apart(llvm::Module& module) {
  const auto is_bitwise = [](const llvm::User* user) {
    const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(user);
    return operation && operation->isBitwiseLogicOp();
  };
  std::vector<llvm::LoadInst*> loads;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || !load->getType()->isVectorTy()) continue;
      // Also through casts, which are none in a register.
      const bool feeds = llvm::any_of(load->users(), [&](const llvm::User* user) {
        return is_bitwise(user) || (llvm::isa<llvm::BitCastInst>(user) && llvm::any_of(user->users(), is_bitwise));
      });
      if (feeds) loads.push_back(load);
    }
  }
  for (llvm::LoadInst* load : loads) {
    auto* apart = new llvm::FreezeInst(load, "", std::next(load->getIterator()));
    load->replaceUsesWithIf(apart, [&](const llvm::Use& use) { return use.getUser() != apart; });
  }
}

}  // namespace metalloid::engines::simd
