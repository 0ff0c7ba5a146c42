#include "ir/passes/guard_powers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

namespace metalloid::ir {
namespace {

using llvm::Value;

bool is_guarded_exponent(const llvm::APFloat& exponent) {
  llvm::APFloat twice = exponent;
  twice.multiply(llvm::APFloat(exponent.getSemantics(), 2), llvm::APFloat::rmNearestTiesToEven);
  return !exponent.isInteger() && twice.isInteger();
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
      const llvm::APFloat positive = llvm::abs(*exponent);
      llvm::Type* type = x->getType();
      llvm::IRBuilder<> builder(instruction.getNextNode());
      llvm::SmallVector<llvm::Use*, 4> uses;
      for (llvm::Use& use : instruction.uses()) uses.push_back(&use);
      Value* power = &instruction;
      if (is_negative) {
        instruction.setOperand(1, llvm::ConstantFP::get(type, positive));
        // With more flags LLVM would make the negative exponent again.
        llvm::FastMathFlags flags;
        flags.setApproxFunc();
        power = builder.CreateFDivFMF(llvm::ConstantFP::get(type, 1.0), power, flags);
      }
      power = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, power);
      Value* is_infinite = builder.CreateFCmpOEQ(x, llvm::ConstantFP::getInfinity(type, /*Negative=*/true));
      Value* of_infinity = is_negative ? llvm::ConstantFP::getZero(type) : llvm::ConstantFP::getInfinity(type);
      Value* guarded = builder.CreateSelect(is_infinite, of_infinity, power);
      for (llvm::Use* use : uses) use->set(guarded);
    }
  }
}

}  // namespace metalloid::ir
