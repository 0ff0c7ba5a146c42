#include "engines/simd/simdgroup/keep_constants_apart.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <vector>

namespace metalloid::engines::simd {
namespace {

// What absolute differences are put together from: a comparison and a selection, the least of two, or a difference that
// stops at zero.
bool may_be_of_a_difference(const llvm::Instruction& instruction) {
  if (const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) {
    return comparison->isUnsigned() &&
           llvm::any_of(comparison->users(), [](const llvm::User* user) { return llvm::isa<llvm::SelectInst>(user); });
  }
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return intrinsic && (intrinsic->getIntrinsicID() == llvm::Intrinsic::umin ||
                       intrinsic->getIntrinsicID() == llvm::Intrinsic::usub_sat);
}

bool differs_between_lanes(const llvm::Value& value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(&value);
  return constant && constant->getType()->isVectorTy() && !constant->getSplatValue();
}

}  // namespace

void keep_constants_apart(llvm::Module& module) {
  std::vector<llvm::Use*> uses;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!may_be_of_a_difference(instruction)) continue;
      for (llvm::Use& operand : instruction.operands()) {
        if (differs_between_lanes(*operand)) uses.push_back(&operand);
      }
    }
  }
  for (llvm::Use* use : uses) {
    auto* constant = llvm::cast<llvm::Constant>(use->get());
    auto* memory = new llvm::GlobalVariable(module, constant->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::PrivateLinkage, constant, "apart");
    memory->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    auto* user = llvm::cast<llvm::Instruction>(use->getUser());
    auto* load = new llvm::LoadInst(constant->getType(), memory, "", user->getIterator());
    load->setDebugLoc(user->getDebugLoc());
    use->set(load);
  }
}

}  // namespace metalloid::engines::simd
