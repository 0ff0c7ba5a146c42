#include "ir/passes/guard_powers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

namespace metalloid::ir {
namespace {

using llvm::Value;

// LLVM takes care of roots and their inverses itself.
bool is_guarded_exponent(const llvm::APFloat& exponent) {
  llvm::APFloat twice = exponent;
  twice.multiply(llvm::APFloat(exponent.getSemantics(), 2), llvm::APFloat::rmNearestTiesToEven);
  return !exponent.isInteger() && twice.isInteger() && !exponent.isExactlyValue(0.5) && !exponent.isExactlyValue(-0.5);
}

}  // namespace

void guard_powers(llvm::Module& module) {
  using namespace llvm::PatternMatch;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      Value* x = nullptr;
      const llvm::APFloat* exponent = nullptr;
      const bool is_power = match(&instruction, m_Intrinsic<llvm::Intrinsic::pow>(m_Value(x), m_APFloat(exponent)));
      if (!is_power || !instruction.hasApproxFunc() || !is_guarded_exponent(*exponent)) continue;
      const bool is_negative = exponent->isNegative();
      const auto positive = llvm::abs(*exponent);
      llvm::IRBuilder<> builder(&instruction);
      Value* is_usual = builder.CreateFCmpOGT(x, llvm::ConstantFP::getInfinity(x->getType(), /*Negative=*/true));
      if (is_negative) {
        is_usual = builder.CreateAnd(is_usual, builder.CreateFCmpOLT(x, llvm::ConstantFP::getZero(x->getType())));
      }
      Value* magnitude = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
      instruction.setOperand(0, builder.CreateSelect(is_usual, x, magnitude));
      if (!is_negative) continue;
      instruction.setOperand(1, llvm::ConstantFP::get(x->getType(), positive));
      builder.SetInsertPoint(instruction.getNextNode());
      Value* one = llvm::ConstantFP::get(x->getType(), 1.0);
      // With more flags LLVM would make the negative exponent again.
      llvm::FastMathFlags flags;
      flags.setApproxFunc();
      Value* inverse = builder.CreateFDivFMF(one, &instruction, flags);
      instruction.replaceUsesWithIf(inverse, [&](const llvm::Use& use) { return use.getUser() != inverse; });
    }
  }
}

}  // namespace metalloid::ir
