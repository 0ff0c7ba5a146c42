// Rows whose narrower sums may wrap (lane_shapes.h). Beside the row that its stride tells, such a value has
//
//   is_steady     whether nothing wraps: all lanes have what the row says
//   beside_row    what each lane's own value is more than the row says; what lives only where somebody asks for it
//
// Values of lanes are row and rest together. Accesses go by the row alone, behind a check of bounds: that holds for
// steady rows, and looks at each lane that takes part where one is not (checks.cpp). Accesses that need no
// check lie in memory that is too small to have lanes on both sides.
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "engines/simd/widening/widening.h"

namespace metalloid::engines::simd {

using llvm::Instruction;
using llvm::Value;

llvm::Type* Widening::number_like(Type* type) const { return type->isPointerTy() ? layout_.getIndexType(type) : type; }

bool Widening::may_wrap(const Value& value) const {
  return llvm::isa<Instruction>(value) && shapes_.bits_of(value).may_wrap;
}

// What the stride says, or, if narrower sums may wrap, what the lanes have.
Value* Widening::row_of_strided(Value* value, const Shape& shape) {
  Type* number = number_like(value->getType());
  Value* offsets = builder_.CreateMul(lane_numbers(number), llvm::ConstantInt::getSigned(wide(number), shape.stride));
  if (shape.may_wrap) offsets = builder_.CreateAdd(offsets, beside_row(value));
  Value* first = scalar_of(value);
  if (value->getType()->isPointerTy()) return builder_.CreateGEP(builder_.getInt8Ty(), first, offsets);
  return builder_.CreateAdd(builder_.CreateVectorSplat(width_, first), offsets);
}

Value* Widening::is_steady(Value* value) {
  if (!may_wrap(*value)) return builder_.getTrue();
  if (Value* before = known(value).is_steady) return before;
  auto& instruction = llvm::cast<Instruction>(*value);
  Value* result = nullptr;
  if (llvm::isa<llvm::ZExtInst, llvm::SExtInst>(instruction)) {
    result = is_steady_extension(llvm::cast<llvm::CastInst>(instruction));
  }
  for (Value* operand : instruction.operands()) {
    if (!may_wrap(*operand)) continue;
    Value* own = is_steady(operand);
    result = result ? builder_.CreateAnd(result, own) : own;
  }
  // Of a phi that was taken for one at first nothing may be left that can.
  return known_[value].is_steady = result ? result : builder_.getTrue();
}

// Whether the lane that has most has no less than the one that has least.
Value* Widening::is_steady_extension(llvm::CastInst& extension) {
  Value* narrow = extension.getOperand(0);
  const LaneBits bits = shapes_.bits_of(*narrow);
  unsigned most = 0;
  std::int64_t span = 0;
  llvm::SmallVector<unsigned, 5> unknown;
  for (unsigned bit = 0; bit < bits.growth.size(); ++bit) {
    if (!bits.growth[bit]) {
      unknown.push_back(bit);
      continue;
    }
    span += std::abs(*bits.growth[bit]);
    if (*bits.growth[bit] > 0) most |= 1u << bit;
  }
  if (span >= std::int64_t{1} << 31) return builder_.getFalse();
  const auto order = extension.getOpcode() == Instruction::SExt ? llvm::CmpInst::ICMP_SGE : llvm::CmpInst::ICMP_UGE;
  Value* result = nullptr;
  for (const unsigned start : lanes_of_bits(unknown)) {
    Value* high = value_in_lane(narrow, start | most);
    Value* low = builder_.CreateSub(high, llvm::ConstantInt::get(high->getType(), static_cast<std::uint64_t>(span)));
    Value* own = builder_.CreateICmp(order, high, low);
    result = result ? builder_.CreateAnd(result, own) : own;
  }
  return result;
}

// Of strided values.
Value* Widening::beside_row(Value* value) {
  Type* type = wide(number_like(value->getType()));
  if (!may_wrap(*value)) return llvm::Constant::getNullValue(type);
  if (Value* before = known(value).beside_row) return before;
  auto& instruction = llvm::cast<Instruction>(*value);
  const auto below = [&](unsigned operand) { return beside_row(instruction.getOperand(operand)); };
  Value* result = nullptr;
  switch (instruction.getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt: {
      const auto stride = llvm::ConstantInt::getSigned(type, shapes_.of(instruction).stride);
      Value* row = builder_.CreateAdd(builder_.CreateVectorSplat(width_, scalar_of(value)),
                                      builder_.CreateMul(lane_numbers(type->getScalarType()), stride));
      Value* own = builder_.CreateCast(llvm::cast<llvm::CastInst>(instruction).getOpcode(),
                                       vector_of(instruction.getOperand(0)), type);
      result = builder_.CreateSub(own, row);
      break;
    }
    case Instruction::Add: result = builder_.CreateAdd(below(0), below(1)); break;
    case Instruction::Sub: result = builder_.CreateSub(below(0), below(1)); break;
    case Instruction::Mul:
    case Instruction::Shl: {
      const unsigned constant = llvm::isa<llvm::ConstantInt>(instruction.getOperand(1)) ? 1 : 0;
      result = builder_.CreateBinOp(llvm::cast<llvm::BinaryOperator>(instruction).getOpcode(), below(1 - constant),
                                    vector_of(instruction.getOperand(constant)));
      break;
    }
    case Instruction::Trunc: result = builder_.CreateTrunc(below(0), type); break;
    case Instruction::Select:
      result = builder_.CreateSelect(scalar_of(instruction.getOperand(0)), below(1), below(2));
      break;
    case Instruction::GetElementPtr:
      result = below(0);
      for (auto step = llvm::gep_type_begin(instruction); step != llvm::gep_type_end(instruction); ++step) {
        if (step.isStruct() || !may_wrap(*step.getOperand())) continue;
        const std::uint64_t size = step.getSequentialElementStride(layout_).getFixedValue();
        result = builder_.CreateAdd(
            result, builder_.CreateMul(beside_row(step.getOperand()), llvm::ConstantInt::get(type, size)));
      }
      break;
    default: result = below(0); break;  // a change of the address space, freeze
  }
  return known_[value].beside_row = result;
}

// Of indices times their size: a row that wraps begins in front of its memory, so that a check of where it begins is
// enough, and lanes in front of where it wraps have at least so much.
std::optional<std::uint64_t> Widening::wraps_at(const Value& offset) const {
  const auto* instruction = llvm::dyn_cast<Instruction>(&offset);
  if (!instruction || !may_wrap(offset)) return std::nullopt;
  switch (instruction->getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt: {
      const Value& narrow = *instruction->getOperand(0);
      if (!narrow.getType()->isIntegerTy(32) || may_wrap(narrow)) return std::nullopt;
      std::uint64_t span = 0;
      for (const auto& growth : shapes_.bits_of(narrow).growth) span += growth ? std::abs(*growth) : 0;
      const auto end = std::uint64_t{1} << (instruction->getOpcode() == Instruction::SExt ? 31 : 32);
      return end - std::min(span, end);
    }
    case Instruction::Mul:
    case Instruction::Shl: {
      const auto* factor = llvm::dyn_cast<llvm::ConstantInt>(instruction->getOperand(1));
      const auto below =
          factor && factor->getValue().ult(1u << 20) ? wraps_at(*instruction->getOperand(0)) : std::nullopt;
      if (!below || factor->isZero()) return std::nullopt;
      if (instruction->getOpcode() == Instruction::Mul) return *below * factor->getZExtValue();
      return factor->getZExtValue() < 20 ? std::optional(*below << factor->getZExtValue()) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

}  // namespace metalloid::engines::simd
