// What instructions become that are neither accesses of memory nor operations across lanes.
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <string>
#include <utility>

#include "engines/simd/shapes/lane_target.h"
#include "engines/simd/widening/widening.h"
#include "ir/support/pointer_tags.h"

namespace metalloid::engines::simd {

using llvm::Instruction;
using llvm::Value;
using Kind = Shape::Kind;

void Widening::widen(Instruction& instruction) {
  if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd()) return;
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    if (intrinsic->isAssumeLikeIntrinsic() && intrinsic->getType()->isVoidTy()) return;
    if (intrinsic->getIntrinsicID() == llvm::Intrinsic::prefetch) return widen_prefetch(*intrinsic);
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return widen_store(*store);
  Widened widened;
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const Shape shape = instruction.getType()->isVoidTy() ? Shape{} : shapes_.of(instruction);
  if (call && widen_call(*call, widened)) {
    if (!instruction.getType()->isVoidTy()) keep(instruction, widened);
    return;
  }
  if (shape.kind == Kind::uniform && takes_common_tag(instruction)) {
    widened.scalar = common_tag(instruction);
  } else if (shape.kind == Kind::strided) {
    widened.scalar = strided_copy(instruction, shape);
  } else if (shape.kind == Kind::uniform) {
    widened.scalar = scalar_copy(instruction);
  } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    widened = widen_load(*load);
  } else if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    widened = widen_change(*change);
  } else if (llvm::isa<llvm::FenceInst>(instruction)) {
    scalar_copy(instruction);
    return;
  } else if (llvm::isa<llvm::AtomicCmpXchgInst>(instruction)) {
    widened = lane_by_lane(instruction);
  } else if (call) {
    widened = widen_intrinsic(*call);
  } else {
    widened = widen_operation(instruction);
  }
  if (!instruction.getType()->isVoidTy()) keep(instruction, widened);
}

Value* Widening::scalar_copy(Instruction& instruction) {
  Instruction* copy = instruction.clone();
  for (llvm::Use& operand : copy->operands()) {
    if (!llvm::isa<llvm::MetadataAsValue>(operand)) operand.set(scalar_of(operand));
  }
  if (llvm::isa<llvm::AllocaInst>(copy)) {
    copy->insertBefore(entry_->begin());
    copy->setDebugLoc({});
  } else {
    builder_.Insert(copy, instruction.getName());
  }
  return copy;
}

// Lane 0's value, by the arithmetic of the stride: what the lane itself would compute may be anything if it takes no
// part, so nothing is promised of it.
Value* Widening::strided_copy(Instruction& instruction, const Shape& shape) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call && !ir::is_bare(*call)) return llvm::ConstantInt::get(call->getType(), 0);  // the lane's number
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
      cast && (cast->getOpcode() == Instruction::ZExt || cast->getOpcode() == Instruction::SExt)) {
    return widen_index(*cast, shape);
  }
  Value* copy = scalar_copy(instruction);
  llvm::cast<Instruction>(copy)->dropPoisonGeneratingFlags();
  return copy;
}

//   i - 1, with i the thread's unsigned position, is 4294967295 in thread 0 and then 0, 1, 2
//
// Counted from the lane that has most if nothing wraps, lanes in front of where the narrow sum wraps come to lie in
// front of the row, where lanes that take no part may lie.
Value* Widening::widen_index(llvm::CastInst& cast, const Shape& shape) {
  Value* first = scalar_of(cast.getOperand(0));
  if (!shape.may_wrap || shape.stride < 0) return builder_.CreateCast(cast.getOpcode(), first, cast.getType());
  const std::uint64_t distance = static_cast<std::uint64_t>(shape.stride) * (width_ - 1);
  Value* last = builder_.CreateAdd(first, llvm::ConstantInt::get(first->getType(), distance));
  return builder_.CreateSub(builder_.CreateCast(cast.getOpcode(), last, cast.getType()),
                            llvm::ConstantInt::get(cast.getType(), distance));
}

Widened Widening::widen_operation(Instruction& instruction) {
  Widened result;
  const unsigned parts = parts_of(instruction.getType());
  const auto operand = [&](unsigned index, unsigned part) { return vector_of(instruction.getOperand(index), part); };
  const auto add = [&](Value* value) {
    if (auto* made = llvm::dyn_cast<Instruction>(value)) made->copyIRFlags(&instruction);
    result.vectors.push_back(value);
  };
  if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    if (binary->isIntDivRem()) return widen_division(*binary);
    for (unsigned p = 0; p < parts; ++p) add(builder_.CreateBinOp(binary->getOpcode(), operand(0, p), operand(1, p)));
    return result;
  }
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) return widen_cast(*cast);
  if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    result.vectors.push_back(widen_address(*address));
    return result;
  }
  switch (instruction.getOpcode()) {
    case Instruction::FNeg:
      for (unsigned p = 0; p < parts; ++p) add(builder_.CreateFNeg(operand(0, p)));
      return result;
    case Instruction::ICmp:
    case Instruction::FCmp:
      for (unsigned p = 0; p < parts; ++p) {
        add(builder_.CreateCmp(llvm::cast<llvm::CmpInst>(instruction).getPredicate(), operand(0, p), operand(1, p)));
      }
      return result;
    case Instruction::Select: {
      Value* condition = instruction.getOperand(0);
      const bool by_part = condition->getType()->isVectorTy();
      const bool is_uniform = !by_part && shapes_.is_uniform(*condition);
      for (unsigned p = 0; p < parts; ++p) {
        Value* choice = is_uniform ? scalar_of(condition) : vector_of(condition, by_part ? p : 0);
        add(builder_.CreateSelect(choice, operand(1, p), operand(2, p)));
      }
      return result;
    }
    case Instruction::Freeze:
      for (unsigned p = 0; p < parts; ++p) result.vectors.push_back(builder_.CreateFreeze(operand(0, p)));
      return result;
    case Instruction::ExtractElement: {
      Value* vector = instruction.getOperand(0);
      const unsigned count = parts_of(vector->getType());
      if (auto* index = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1))) {
        result.vectors.push_back(vector_of(vector, static_cast<unsigned>(index->getZExtValue()) % count));
        return result;
      }
      Value* index = operand(1, 0);
      Value* chosen = vector_of(vector, 0);
      for (unsigned p = 1; p < count; ++p) {
        Value* is_it = builder_.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), p));
        chosen = builder_.CreateSelect(is_it, vector_of(vector, p), chosen);
      }
      result.vectors.push_back(chosen);
      return result;
    }
    case Instruction::InsertElement: {
      auto* constant = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(2));
      for (unsigned p = 0; p < parts; ++p) {
        if (constant) {
          result.vectors.push_back(constant->getZExtValue() == p ? operand(1, 0) : operand(0, p));
          continue;
        }
        Value* index = operand(2, 0);
        Value* is_it = builder_.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), p));
        result.vectors.push_back(builder_.CreateSelect(is_it, operand(1, 0), operand(0, p)));
      }
      return result;
    }
    case Instruction::ShuffleVector: {
      const auto& shuffle = llvm::cast<llvm::ShuffleVectorInst>(instruction);
      const int count = static_cast<int>(parts_of(shuffle.getOperand(0)->getType()));
      for (const int source : shuffle.getShuffleMask()) {
        if (source < 0) {
          result.vectors.push_back(llvm::PoisonValue::get(wide(instruction.getType()->getScalarType())));
        } else {
          result.vectors.push_back(source < count ? operand(0, source) : operand(1, source - count));
        }
      }
      return result;
    }
    case Instruction::ExtractValue:
    case Instruction::InsertValue: {
      const bool extracts = instruction.getOpcode() == Instruction::ExtractValue;
      const auto indices = extracts ? llvm::cast<llvm::ExtractValueInst>(instruction).getIndices()
                                    : llvm::cast<llvm::InsertValueInst>(instruction).getIndices();
      Type* type = instruction.getOperand(0)->getType();
      unsigned first = 0;
      for (const unsigned index : indices) {
        for (unsigned i = 0; i < index; ++i) {
          first += parts_of(type->isStructTy() ? type->getStructElementType(i) : type->getArrayElementType());
        }
        type = type->isStructTy() ? type->getStructElementType(index) : type->getArrayElementType();
      }
      const unsigned count = parts_of(type);
      for (unsigned p = 0; p < parts; ++p) {
        if (extracts) {
          result.vectors.push_back(operand(0, first + p));
        } else {
          result.vectors.push_back(p >= first && p < first + count ? operand(1, p - first) : operand(0, p));
        }
      }
      return result;
    }
    default: return lane_by_lane(instruction);
  }
}

// There are no vector instructions for it. Quotients of 32 bits are exact in double.
Widened Widening::widen_division(llvm::BinaryOperator& division) {
  Widened result;
  const auto opcode = division.getOpcode();
  const bool is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  const bool is_remainder = opcode == Instruction::SRem || opcode == Instruction::URem;
  for (unsigned p = 0; p < parts_of(division.getType()); ++p) {
    Value *a = vector_of(division.getOperand(0), p), *b = vector_of(division.getOperand(1), p);
    if (llvm::isa<llvm::Constant>(b) || division.getType()->getScalarSizeInBits() > 32) {
      // What lanes that take no part hold may be nothing that divides.
      if (lanes_ && !llvm::isa<llvm::Constant>(b)) {
        b = builder_.CreateSelect(lanes_, b, llvm::ConstantInt::get(b->getType(), 1));
      }
      result.vectors.push_back(builder_.CreateBinOp(opcode, a, b));
      continue;
    }
    Type* number =
        wide(division.getType()->getScalarSizeInBits() > 16 ? builder_.getDoubleTy() : builder_.getFloatTy());
    const auto convert = [&](Value* value) {
      return is_signed ? builder_.CreateSIToFP(value, number) : builder_.CreateUIToFP(value, number);
    };
    Value* exact = builder_.CreateFDiv(convert(a), convert(b));
    Value* quotient =
        is_signed ? builder_.CreateFPToSI(exact, a->getType()) : builder_.CreateFPToUI(exact, a->getType());
    result.vectors.push_back(is_remainder ? builder_.CreateSub(a, builder_.CreateMul(quotient, b)) : quotient);
  }
  return result;
}

Widened Widening::widen_cast(llvm::CastInst& cast) {
  if (cast.getOpcode() == Instruction::BitCast && (parts_of(cast.getSrcTy()) != parts_of(cast.getDestTy()))) {
    return reinterpret(cast);
  }
  Widened result;
  for (unsigned p = 0; p < parts_of(cast.getType()); ++p) {
    Value* value =
        builder_.CreateCast(cast.getOpcode(), vector_of(cast.getOperand(0), p), wide(part_type(cast.getType(), p)));
    if (auto* made = llvm::dyn_cast<Instruction>(value)) made->copyIRFlags(&cast);
    result.vectors.push_back(value);
  }
  return result;
}

// Between elements of different sizes: through the integer that holds all bits of a lane, low elements first.
Widened Widening::reinterpret(llvm::CastInst& cast) {
  const unsigned bits = static_cast<unsigned>(layout_.getTypeSizeInBits(cast.getType()));
  Type* whole = wide(builder_.getIntNTy(bits));
  const unsigned from = parts_of(cast.getSrcTy()), to = parts_of(cast.getDestTy());
  const auto integer = [&](unsigned width) { return wide(builder_.getIntNTy(width)); };
  Value* all = nullptr;
  for (unsigned p = 0; p < from; ++p) {
    // An element that nobody reads may be poison, which must stay its own.
    Value* element = builder_.CreateFreeze(vector_of(cast.getOperand(0), p));
    Value* piece = builder_.CreateBitCast(element, integer(bits / from));
    piece = builder_.CreateZExt(piece, whole);
    if (p != 0) piece = builder_.CreateShl(piece, llvm::ConstantInt::get(whole, std::uint64_t{p} * (bits / from)));
    all = all ? builder_.CreateOr(all, piece) : piece;
  }
  Widened result;
  for (unsigned p = 0; p < to; ++p) {
    Value* piece = builder_.CreateLShr(all, llvm::ConstantInt::get(whole, std::uint64_t{p} * (bits / to)));
    piece = builder_.CreateTrunc(piece, integer(bits / to));
    result.vectors.push_back(builder_.CreateBitCast(piece, wide(part_type(cast.getType(), p))));
  }
  return result;
}

// Bases and indices that all lanes share stay scalars, as gathers want them.
Value* Widening::widen_address(llvm::GetElementPtrInst& address) {
  const auto operand = [&](Value* value) { return shapes_.is_uniform(*value) ? scalar_of(value) : vector_of(value); };
  llvm::SmallVector<Value*, 4> indices;
  for (Value* index : address.indices()) indices.push_back(operand(index));
  Value* base = operand(address.getPointerOperand());
  if (!base->getType()->isVectorTy() && llvm::none_of(indices, [](Value* i) { return i->getType()->isVectorTy(); })) {
    base = vector_of(address.getPointerOperand());
  }
  return builder_.CreateGEP(address.getSourceElementType(), base, indices);
}

// For these, lower_vector_math has a slow way that one lane is enough to take: none that takes no part should.
static bool has_rare_operands(llvm::Intrinsic::ID id) {
  return id == llvm::Intrinsic::pow || id == llvm::Intrinsic::sin || id == llvm::Intrinsic::cos ||
         id == llvm::Intrinsic::tan;
}

Widened Widening::widen_intrinsic(llvm::CallInst& call) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  const bool is_with_overflow = llvm::isa<llvm::WithOverflowInst>(call);
  if (id == llvm::Intrinsic::ptrmask) {  // takes the tags off addresses; LLVM's vectorizer does not know of it
    Value *addresses = vector_of(call.getArgOperand(0)), *mask = vector_of(call.getArgOperand(1));
    Widened bare;
    bare.vectors.push_back(builder_.CreateIntrinsic(id, {addresses->getType(), mask->getType()}, {addresses, mask}));
    return bare;
  }
  if (id == llvm::Intrinsic::not_intrinsic || !(is_with_overflow || llvm::isTriviallyVectorizable(id))) {
    return lane_by_lane(call);
  }
  Widened result;
  const unsigned parts = is_with_overflow ? 1 : parts_of(call.getType());
  llvm::SmallVector<llvm::SmallVector<Value*, 2>, 4> fields(2);
  for (unsigned p = 0; p < parts; ++p) {
    llvm::SmallVector<Value*, 4> operands;
    llvm::SmallVector<Type*, 2> overloads;
    if (is_with_overflow) {
      overloads.push_back(wide(call.getArgOperand(0)->getType()));
    } else if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1, nullptr)) {
      overloads.push_back(wide(part_type(call.getType(), p)));
    }
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      Value* argument = call.getArgOperand(i);
      const bool is_scalar = !is_with_overflow && llvm::isVectorIntrinsicWithScalarOpAtArg(id, i, nullptr);
      if (is_scalar && !llvm::isa<llvm::Constant>(argument) && !shapes_.is_uniform(*argument))
        return lane_by_lane(call);
      operands.push_back(is_scalar ? scalar_of(argument) : vector_of(argument, p));
      if (lanes_ && has_rare_operands(id)) {
        Value* ordinary = llvm::ConstantFP::get(operands.back()->getType(), 1.0);
        operands.back() = builder_.CreateSelect(lanes_, operands.back(), ordinary);
      }
      if (!is_with_overflow && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i), nullptr)) {
        overloads.push_back(operands.back()->getType());
      }
    }
    llvm::Function* callee = llvm::Intrinsic::getOrInsertDeclaration(wide_.getParent(), id, overloads);
    llvm::CallInst* made = builder_.CreateCall(callee, operands);
    if (llvm::isa<llvm::FPMathOperator>(made)) made->copyFastMathFlags(&call);
    if (!is_with_overflow) {
      result.vectors.push_back(made);
      continue;
    }
    for (unsigned f = 0; f < 2; ++f) result.vectors.push_back(builder_.CreateExtractValue(made, f));
  }
  return result;
}

}  // namespace metalloid::engines::simd
