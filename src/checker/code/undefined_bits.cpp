#include "checker/code/undefined_bits.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <algorithm>

namespace metalloid::checker {

using llvm::Type;
using llvm::Value;

Type* type_of_bits(Type* type) {
  llvm::LLVMContext& context = type->getContext();
  if (type->isIntegerTy()) return type;
  if (type->isFloatingPointTy()) return Type::getIntNTy(context, type->getPrimitiveSizeInBits().getFixedValue());
  if (type->isPointerTy()) return Type::getInt64Ty(context);
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    return llvm::FixedVectorType::get(type_of_bits(vector->getElementType()), vector->getNumElements());
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    Type* element = type_of_bits(array->getElementType());
    return element ? llvm::ArrayType::get(element, array->getNumElements()) : nullptr;
  }
  if (auto* record = llvm::dyn_cast<llvm::StructType>(type); record && !record->isOpaque()) {
    llvm::SmallVector<Type*, 8> members;
    for (Type* member : record->elements()) {
      members.push_back(type_of_bits(member));
      if (!members.back()) return nullptr;
    }
    return llvm::StructType::get(context, members, record->isPacked());
  }
  return nullptr;
}

llvm::Constant* no_bits(Type* type) { return llvm::Constant::getNullValue(type_of_bits(type)); }
llvm::Constant* all_bits(Type* type) { return llvm::Constant::getAllOnesValue(type_of_bits(type)); }

Value* any_bit(llvm::IRBuilder<>& builder, Value* bits) {
  Type* type = bits->getType();
  if (type->isAggregateType()) {
    Value* any = builder.getFalse();
    const std::uint64_t count =
        type->isArrayTy() ? type->getArrayNumElements() : llvm::cast<llvm::StructType>(type)->getNumElements();
    for (unsigned i = 0; i < count; ++i) {
      any = builder.CreateOr(any, any_bit(builder, builder.CreateExtractValue(bits, i)));
    }
    return any;
  }
  Value* set = builder.CreateIsNotNull(bits);
  return set->getType()->isVectorTy() ? builder.CreateOrReduce(set) : set;
}

namespace {

class Rules {
 public:
  Rules(llvm::IRBuilder<>& builder, llvm::Instruction& instruction, support::function_ref<Value*(Value*)> bits_of)
      : builder_(builder), instruction_(instruction), bits_of_(bits_of), type_(type_of_bits(instruction.getType())) {}

  Value* result() {
    switch (instruction_.getOpcode()) {
      case llvm::Instruction::And: return conjunction(/*of_zeros=*/true);
      case llvm::Instruction::Or: return conjunction(/*of_zeros=*/false);
      case llvm::Instruction::Xor:
      case llvm::Instruction::Add:
      case llvm::Instruction::Sub: return builder_.CreateOr(of(0), of(1));
      case llvm::Instruction::Shl:
      case llvm::Instruction::LShr:
      case llvm::Instruction::AShr: {
        auto opcode = static_cast<llvm::Instruction::BinaryOps>(instruction_.getOpcode());
        return builder_.CreateOr(builder_.CreateBinOp(opcode, of(0), instruction_.getOperand(1)), spread(of(1)));
      }
      case llvm::Instruction::Trunc: return builder_.CreateTrunc(of(0), type_);
      case llvm::Instruction::ZExt: return builder_.CreateZExt(of(0), type_);
      case llvm::Instruction::SExt: return builder_.CreateSExt(of(0), type_);
      case llvm::Instruction::PtrToInt:
      case llvm::Instruction::IntToPtr: return builder_.CreateZExtOrTrunc(of(0), type_);
      case llvm::Instruction::BitCast: return builder_.CreateBitCast(of(0), type_);
      case llvm::Instruction::AddrSpaceCast:
      case llvm::Instruction::FNeg:
      case llvm::Instruction::Freeze: return of(0);
      case llvm::Instruction::Select: return choice();
      case llvm::Instruction::ExtractElement: return builder_.CreateExtractElement(of(0), instruction_.getOperand(1));
      case llvm::Instruction::InsertElement:
        return builder_.CreateInsertElement(of(0), of(1), instruction_.getOperand(2));
      case llvm::Instruction::ShuffleVector: return shuffle(llvm::cast<llvm::ShuffleVectorInst>(instruction_));
      case llvm::Instruction::ExtractValue:
        return builder_.CreateExtractValue(of(0), llvm::cast<llvm::ExtractValueInst>(instruction_).getIndices());
      case llvm::Instruction::InsertValue:
        return builder_.CreateInsertValue(of(0), of(1), llvm::cast<llvm::InsertValueInst>(instruction_).getIndices());
      default: return together();
    }
  }

 private:
  Value* of(unsigned operand) { return bits_of_(instruction_.getOperand(operand)); }

  // `and`: a zero that is defined decides. `or`: a one does.
  Value* conjunction(bool of_zeros) {
    const auto open = [&](unsigned operand) {  // where the other one decides
      Value* value = instruction_.getOperand(operand);
      return of_zeros ? value : builder_.CreateNot(value);
    };
    Value *a = of(0), *b = of(1);
    Value* one = builder_.CreateOr(builder_.CreateAnd(a, open(1)), builder_.CreateAnd(open(0), b));
    return builder_.CreateOr(builder_.CreateAnd(a, b), one);
  }

  // An undefined condition leaves open what differs.
  Value* choice() {
    auto& select = llvm::cast<llvm::SelectInst>(instruction_);
    Value *condition = select.getCondition(), *open = bits_of_(condition);
    Value *yes = bits_of_(select.getTrueValue()), *no = bits_of_(select.getFalseValue());
    Value* chosen = yes == no ? yes : builder_.CreateSelect(condition, yes, no);
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(open); constant && constant->isNullValue()) return chosen;
    if (select.getType()->isAggregateType()) return builder_.CreateSelect(open, all_bits(select.getType()), chosen);
    const auto as_bits = [&](Value* value) {
      if (value->getType()->isPtrOrPtrVectorTy()) return builder_.CreatePtrToInt(value, type_);
      return builder_.CreateBitCast(value, type_);
    };
    Value* differs = builder_.CreateXor(as_bits(select.getTrueValue()), as_bits(select.getFalseValue()));
    return builder_.CreateSelect(open, builder_.CreateOr(differs, builder_.CreateOr(yes, no)), chosen);
  }

  Value* shuffle(llvm::ShuffleVectorInst& shuffle) {
    // Elements that nobody chose hold nothing that is read.
    llvm::SmallVector<int, 16> mask, keep;
    for (const int from : shuffle.getShuffleMask()) {
      const auto i = static_cast<int>(mask.size());
      keep.push_back(from < 0 ? static_cast<int>(shuffle.getShuffleMask().size()) + i : i);
      mask.push_back(std::max(from, 0));
    }
    Value* bits = builder_.CreateShuffleVector(of(0), of(1), mask);
    return builder_.CreateShuffleVector(bits, llvm::Constant::getNullValue(type_), keep);
  }

  // Any bit of a number makes all of it undefined.
  Value* spread(Value* bits) {
    Value* set = builder_.CreateIsNotNull(bits);
    return builder_.CreateSExt(set, bits->getType());
  }

  // Of all operands: element by element where they have as many as the result has.
  Value* together() {
    Type* lanes = type_;
    Value* all = nullptr;
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction_);
    const auto count = [](const Type* type) {
      const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
      return vector ? vector->getNumElements() : 0;
    };
    Type* flag = builder_.getInt1Ty();
    const bool is_plain = !lanes->isAggregateType();
    if (is_plain && count(lanes) != 0) flag = llvm::FixedVectorType::get(flag, count(lanes));
    for (Value* operand : call ? llvm::SmallVector<Value*, 4>(call->args())
                               : llvm::SmallVector<Value*, 4>(instruction_.operand_values())) {
      if (!type_of_bits(operand->getType())) continue;
      Value* bits = bits_of_(operand);
      if (const auto* constant = llvm::dyn_cast<llvm::Constant>(bits); constant && constant->isNullValue()) continue;
      const bool fits = is_plain && count(bits->getType()) == count(lanes) && !bits->getType()->isAggregateType();
      Value* set = fits ? builder_.CreateIsNotNull(bits) : any_bit(builder_, bits);
      if (set->getType() != flag) set = builder_.CreateVectorSplat(count(lanes), set);
      all = all ? builder_.CreateOr(all, set) : set;
    }
    if (!all) return llvm::Constant::getNullValue(type_);
    if (!is_plain) return builder_.CreateSelect(all, all_bits(instruction_.getType()), no_bits(instruction_.getType()));
    return builder_.CreateSExt(all, type_);
  }

  llvm::IRBuilder<>& builder_;
  llvm::Instruction& instruction_;
  support::function_ref<Value*(Value*)> bits_of_;
  Type* type_;
};

}  // namespace

Value* result_bits(llvm::IRBuilder<>& builder, llvm::Instruction& instruction,
                   support::function_ref<Value*(Value*)> bits_of) {
  return Rules(builder, instruction, bits_of).result();
}

}  // namespace metalloid::checker
