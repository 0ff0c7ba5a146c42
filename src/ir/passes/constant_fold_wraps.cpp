// LLVM folds operations on constants while they are built, before any pass sees them, and what C leaves undefined
// becomes poison: `1u << 33`, `5u / 0u`, `uint(-5.0f)`. Here such operations have the values that
// fix_numeric_semantics gives them at run time. The linker's --wrap (constant_fold_wraps.link) sends LLVM's own calls
// here; `__real_` is the original. A value in the place of poison is right for LLVM everywhere.
//
// Test: tests/kernels/out_of_range_constants.metal.
#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/APSInt.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instruction.h>

using llvm::APInt;
using llvm::Constant;
using llvm::ConstantInt;
using llvm::Instruction;
using llvm::Type;

#define METALLOID_FOLD_BINARY "_ZN4llvm29ConstantFoldBinaryInstructionEjPNS_8ConstantES1_"
#define METALLOID_FOLD_CAST "_ZN4llvm27ConstantFoldCastInstructionEjPNS_8ConstantEPNS_4TypeE"

Constant* real_fold_binary(unsigned opcode, Constant* left, Constant* right) __asm__("__real_" METALLOID_FOLD_BINARY);
Constant* wrap_fold_binary(unsigned opcode, Constant* left, Constant* right) __asm__("__wrap_" METALLOID_FOLD_BINARY);
Constant* real_fold_cast(unsigned opcode, Constant* value, Type* type) __asm__("__real_" METALLOID_FOLD_CAST);
Constant* wrap_fold_cast(unsigned opcode, Constant* value, Type* type) __asm__("__wrap_" METALLOID_FOLD_CAST);

namespace {

// Applies a fold to each element of vectors; null if one element has no answer.
template <typename Fold>
Constant* fold_elements(Constant* vector, Fold fold) {
  const unsigned count = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  llvm::SmallVector<Constant*, 16> elements;
  for (unsigned i = 0; i < count; ++i) {
    Constant* element = vector->getAggregateElement(i);
    Constant* result = element ? fold(element, i) : nullptr;
    if (!result) return nullptr;
    elements.push_back(result);
  }
  return llvm::ConstantVector::get(elements);
}

// The amount or divisor that is used in the place of one that has no meaning.
APInt defined_operand(unsigned opcode, const APInt& left, const APInt& right) {
  const unsigned width = right.getBitWidth();
  const bool overflows = left.isMinSignedValue() && right.isAllOnes();
  switch (opcode) {
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr: return APInt(width, right.urem(width));
    case Instruction::UDiv:
    case Instruction::URem: return right.isZero() ? APInt(width, 1) : right;
    case Instruction::SDiv:
    case Instruction::SRem: return right.isZero() || overflows ? APInt(width, 1) : right;
    default: return right;
  }
}

}  // namespace

Constant* wrap_fold_binary(unsigned opcode, Constant* left, Constant* right) {
  if (!Instruction::isShift(opcode) && !Instruction::isIntDivRem(opcode)) return real_fold_binary(opcode, left, right);
  if (llvm::isa<llvm::FixedVectorType>(left->getType())) {
    Constant* result = fold_elements(left, [&](Constant* element, unsigned i) -> Constant* {
      Constant* other = right->getAggregateElement(i);
      return other ? wrap_fold_binary(opcode, element, other) : nullptr;
    });
    return result ? result : real_fold_binary(opcode, left, right);
  }
  const auto* left_number = llvm::dyn_cast<ConstantInt>(left);
  const auto* right_number = llvm::dyn_cast<ConstantInt>(right);
  if (!right_number) return real_fold_binary(opcode, left, right);
  const APInt& amount = right_number->getValue();
  const APInt operand =
      defined_operand(opcode, left_number ? left_number->getValue() : APInt(amount.getBitWidth(), 0), amount);
  return real_fold_binary(opcode, left, ConstantInt::get(right->getType(), operand));
}

Constant* wrap_fold_cast(unsigned opcode, Constant* value, Type* type) {
  if (opcode != Instruction::FPToSI && opcode != Instruction::FPToUI) return real_fold_cast(opcode, value, type);
  if (llvm::isa<llvm::FixedVectorType>(value->getType())) {
    Constant* result = fold_elements(
        value, [&](Constant* element, unsigned) { return wrap_fold_cast(opcode, element, type->getScalarType()); });
    return result ? result : real_fold_cast(opcode, value, type);
  }
  const auto* number = llvm::dyn_cast<llvm::ConstantFP>(value);
  if (!number) return real_fold_cast(opcode, value, type);
  // Saturates, and takes NaN to zero.
  llvm::APSInt integer(type->getIntegerBitWidth(), /*isUnsigned=*/opcode == Instruction::FPToUI);
  bool is_exact = false;
  number->getValueAPF().convertToInteger(integer, llvm::APFloat::rmTowardZero, &is_exact);
  return ConstantInt::get(type, integer);
}
