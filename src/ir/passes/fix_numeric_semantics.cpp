#include "ir/passes/fix_numeric_semantics.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

namespace metalloid::ir {
namespace {

using llvm::Value;

// True if every element of a constant satisfies the predicate; false for anything else.
template <typename Predicate>
bool all_elements(Value* value, Predicate predicate) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant) return false;
  if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(constant)) return predicate(number->getValue());
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(constant->getType());
  if (!vector) return false;
  for (unsigned i = 0; i < vector->getNumElements(); ++i) {
    auto* element = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(i));
    if (!element || !predicate(element->getValue())) return false;
  }
  return true;
}

void mask_shift(llvm::BinaryOperator& shift) {
  Value* amount = shift.getOperand(1);
  unsigned width = shift.getType()->getScalarSizeInBits();
  auto in_range = [&](const llvm::APInt& value) { return value.ult(width); };
  if (all_elements(amount, in_range)) return;
  auto* mask = llvm::dyn_cast<llvm::BinaryOperator>(amount);  // the front end's own
  if (mask && mask->getOpcode() == llvm::Instruction::And && all_elements(mask->getOperand(1), in_range)) return;
  llvm::IRBuilder<> builder(&shift);
  llvm::Type* type = shift.getType();
  Value* masked = llvm::isPowerOf2_32(width) ? builder.CreateAnd(amount, llvm::ConstantInt::get(type, width - 1))
                                             : builder.CreateURem(amount, llvm::ConstantInt::get(type, width));
  shift.setOperand(1, masked);
  shift.dropPoisonGeneratingFlags();
}

void guard_division(llvm::BinaryOperator& division) {
  bool is_signed = division.getOpcode() == llvm::Instruction::SDiv || division.getOpcode() == llvm::Instruction::SRem;
  Value* divisor = division.getOperand(1);
  if (all_elements(divisor,
                   [&](const llvm::APInt& value) { return !value.isZero() && !(is_signed && value.isAllOnes()); })) {
    return;
  }
  llvm::IRBuilder<> builder(&division);
  llvm::Type* type = division.getType();
  Value* bad = builder.CreateICmpEQ(divisor, llvm::Constant::getNullValue(type));
  if (is_signed) {
    Value* smallest = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
    Value* overflows = builder.CreateAnd(builder.CreateICmpEQ(division.getOperand(0), smallest),
                                         builder.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)));
    bad = builder.CreateOr(bad, overflows);
  }
  division.setOperand(1, builder.CreateSelect(bad, llvm::ConstantInt::get(type, 1), divisor));
  division.dropPoisonGeneratingFlags();
}

void saturate_conversion(llvm::CastInst& conversion) {
  llvm::IRBuilder<> builder(&conversion);
  auto intrinsic =
      conversion.getOpcode() == llvm::Instruction::FPToSI ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  Value* operand = conversion.getOperand(0);
  // LLVM's code for half on processors with AVX512-FP16 takes NaN to the smallest short. As a float it has every value.
  if (operand->getType()->getScalarType()->isHalfTy()) {
    operand = builder.CreateFPExt(operand, operand->getType()->getWithNewType(builder.getFloatTy()));
  }
  Value* result = builder.CreateIntrinsic(intrinsic, {conversion.getType(), operand->getType()}, {operand});
  result->takeName(&conversion);
  conversion.replaceAllUsesWith(result);
  conversion.eraseFromParent();
}

}  // namespace

void fix_numeric_semantics(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      switch (instruction.getOpcode()) {
        case llvm::Instruction::Shl:
        case llvm::Instruction::LShr:
        case llvm::Instruction::AShr: mask_shift(llvm::cast<llvm::BinaryOperator>(instruction)); break;
        case llvm::Instruction::SDiv:
        case llvm::Instruction::UDiv:
        case llvm::Instruction::SRem:
        case llvm::Instruction::URem: guard_division(llvm::cast<llvm::BinaryOperator>(instruction)); break;
        case llvm::Instruction::FPToSI:
        case llvm::Instruction::FPToUI: saturate_conversion(llvm::cast<llvm::CastInst>(instruction)); break;
        default: break;
      }
    }
  }
}

}  // namespace metalloid::ir
