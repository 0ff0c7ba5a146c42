// Operands of widened instructions.
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>

#include <utility>

#include "engines/simd/widening/widening.h"

namespace metalloid::engines::simd {

using llvm::Value;
using Kind = Shape::Kind;

llvm::VectorType* Widening::wide(Type* scalar) const { return wide_type(scalar, width_); }

Value* Widening::lane_numbers(Type* type) const {
  llvm::SmallVector<llvm::Constant*, simdgroup_width> numbers;
  for (unsigned lane = 0; lane < width_; ++lane) numbers.push_back(llvm::ConstantInt::get(type, lane));
  return llvm::ConstantVector::get(numbers);
}

const Widened& Widening::known(Value* value) {
  if (llvm::isa<llvm::Argument>(value) && !known_.contains(value)) known_[value] = arguments_.lookup(value);
  const auto found = known_.find(value);
  if (found != known_.end()) return found->second;
  return known_[value] = load(slots_.find(value)->second);
}

Value* Widening::scalar_of(Value* value) {
  if (llvm::isa<llvm::Argument>(value)) return arguments_.find(value)->second.scalar;
  if (!llvm::isa<llvm::Instruction>(value)) return value;
  return known(value).scalar;
}

namespace {

// A part of a value in its own type (vectors/parts.h).
Value* take_part(llvm::IRBuilder<>& builder, Value* value, unsigned part) {
  llvm::Type* type = value->getType();
  if (type->isVectorTy()) return builder.CreateExtractElement(value, part);
  if (!type->isAggregateType()) return value;
  for (unsigned i = 0;; ++i) {
    llvm::Type* member = type->isStructTy() ? type->getStructElementType(i) : type->getArrayElementType();
    const unsigned parts = parts_of(member);
    if (part < parts) return take_part(builder, builder.CreateExtractValue(value, i), part);
    part -= parts;
  }
}

constexpr unsigned deepest_again = 6;  // operands below each other

// Integers and addresses that cost one lane no more than taking them out of a vector, again and again.
bool is_cheap_for_one(const llvm::Instruction& instruction) {
  if (instruction.getType()->isVectorTy()) return false;
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Mul:
    case llvm::Instruction::Shl:
    case llvm::Instruction::LShr:
    case llvm::Instruction::And:
    case llvm::Instruction::Or:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::GetElementPtr: return true;
    default: return false;
  }
}

}  // namespace

// Whether what another block has computed follows cheaply from what is known here.
bool Widening::can_be_made_again(const Value& value, unsigned depth) const {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  if (!instruction || depth > deepest_again || !shapes_.is_varying(value) || !is_cheap_for_one(*instruction))
    return false;
  return llvm::all_of(instruction->operands(), [&](const llvm::Use& operand) {
    const auto* other = llvm::dyn_cast<llvm::Instruction>(&operand);
    return !other || known_.contains(other) || slots_.contains(other) || can_be_made_again(*other, depth + 1);
  });
}

Value* Widening::vector_of(Value* value, unsigned part) {
  Type* type = part_type(value->getType(), part);
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value); constant && !llvm::isa<llvm::Instruction>(value)) {
    if (llvm::isa<llvm::PoisonValue>(constant)) return llvm::PoisonValue::get(wide(type));
    Value* element = take_part(builder_, constant, part);
    return builder_.CreateVectorSplat(width_, element);
  }
  // Code that hardly ever runs keeps nothing alive for itself.
  if (is_apart_ && !known_.contains(value) && can_be_made_again(*value)) {
    const Widened again = widen_operation(llvm::cast<llvm::Instruction>(*value));
    return (known_[value] = again).vectors[part];
  }
  known(value);
  Widened& widened = known_[value];
  if (part < widened.vectors.size() && widened.vectors[part]) return widened.vectors[part];
  const Shape shape = shapes_.of(*value);
  Value* splat = shape.kind == Kind::strided
                     ? row_of_strided(value, shape)
                     : builder_.CreateVectorSplat(width_, take_part(builder_, widened.scalar, part));
  Widened& cached = known_[value];
  if (cached.vectors.size() <= part) cached.vectors.resize(part + 1, nullptr);
  return cached.vectors[part] = splat;
}

// Computed for that lane alone where that is cheap, so that where a row of memory begins needs no vectors.
Value* Widening::value_in_lane(Value* value, unsigned lane) {
  const Shape shape = shapes_.of(*value);
  if (shape.kind == Kind::uniform) return scalar_of(value);
  const auto key = std::pair(static_cast<const Value*>(value), lane);
  if (Value* before = in_lane_.lookup(key)) return before;
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  Value* result = nullptr;
  const bool is_here = instruction && is_cheap_for_one(*instruction) &&
                       (instruction->getParent() == current_->block || can_be_made_again(*instruction));
  if (shape.kind == Kind::strided && !(shape.may_wrap && is_here)) {
    Value* first = scalar_of(value);
    const auto distance = static_cast<std::uint64_t>(shape.stride * static_cast<std::int64_t>(lane));
    result = value->getType()->isPointerTy()
                 ? builder_.CreateGEP(builder_.getInt8Ty(), first, builder_.getInt64(distance))
                 : builder_.CreateAdd(first, llvm::ConstantInt::get(first->getType(), distance, false, true));
    if (shape.may_wrap) {
      Value* beside = builder_.CreateExtractElement(beside_row(value), lane);
      result = value->getType()->isPointerTy() ? builder_.CreateGEP(builder_.getInt8Ty(), result, beside)
                                               : builder_.CreateAdd(result, beside);
    }
  } else if (is_here) {
    llvm::SmallVector<Value*, 4> operands;
    for (Value* operand : instruction->operands()) operands.push_back(value_in_lane(operand, lane));
    auto* copy = llvm::cast<llvm::Instruction>(copy_for_lane(*instruction, operands));
    copy->dropPoisonGeneratingFlags();
    result = copy;
  } else {
    result = builder_.CreateExtractElement(vector_of(value), lane);
  }
  return in_lane_[key] = result;
}

// As 32 bits: lanes that are not there take no part.
Value* Widening::bits_of(Value* lanes) {
  Value* bits = builder_.CreateBitCast(lanes_or_all(lanes), builder_.getIntNTy(width_));
  return builder_.CreateZExt(bits, builder_.getInt32Ty());
}

Value* Widening::any(Value* lanes) { return builder_.CreateICmpNE(bits_of(lanes), builder_.getInt32(0)); }

Value* Widening::last_lane(Value* lanes) {
  if (!lanes) return builder_.getInt32(width_ - 1);
  return builder_.CreateSub(builder_.getInt32(simdgroup_width - 1),
                            builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits_of(lanes), builder_.getFalse()));
}

// Memory that any lane may touch for nothing: where lanes that take no part are sent.
Value* Widening::safe_address(Type* pointer) {
  Value*& address = safe_addresses_[pointer];
  if (!address) {
    llvm::IRBuilder<> builder(entry_, entry_->begin());
    Value* memory = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), safe_bytes));
    builder.SetInsertPoint(entry_->getTerminator());
    address = builder.CreateAddrSpaceCast(memory, pointer);
  }
  return address;
}

Value* Widening::in_memory(Value* vector) {
  llvm::IRBuilder<> start(entry_, entry_->begin());
  Value* memory = start.CreateAlloca(vector->getType());
  builder_.CreateStore(vector, memory);
  return memory;
}

void Widening::call_runtime(std::string_view name, llvm::ArrayRef<Value*> operands) {
  llvm::SmallVector<Type*, 8> types;
  for (Value* operand : operands) types.push_back(operand->getType());
  auto callee = wide_.getParent()->getOrInsertFunction(llvm::StringRef(name),
                                                       llvm::FunctionType::get(builder_.getVoidTy(), types, false));
  builder_.CreateCall(callee, operands)->setDoesNotThrow();
}

}  // namespace metalloid::engines::simd
