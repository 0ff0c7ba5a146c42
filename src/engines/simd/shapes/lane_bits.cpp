// Which bits of the lane's number varying values depend on, and how (lane_shapes.h).
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <cstdlib>

#include "engines/simd/shapes/lane_shapes.h"
#include "engines/simd/shapes/lane_target.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr unsigned bit_count = 5;
constexpr unsigned most_zeros = 64;
constexpr std::int64_t largest = std::int64_t{1} << 30;

template <typename Change>
LaneBits map_bits(const LaneBits& bits, Change change) {
  LaneBits result;
  result.may_wrap = bits.may_wrap;
  for (unsigned i = 0; i < bit_count; ++i) {
    if (!bits.growth[i]) continue;
    const std::int64_t changed = change(*bits.growth[i]);
    if (changed <= largest && changed >= -largest) result.growth[i] = changed;
  }
  return result;
}

LaneBits sum(const LaneBits& a, const LaneBits& b, std::int64_t sign) {
  LaneBits result;
  for (unsigned i = 0; i < bit_count; ++i) {
    if (a.growth[i] && b.growth[i]) result.growth[i] = *a.growth[i] + sign * *b.growth[i];
  }
  result.zeros = std::min(a.zeros, b.zeros);
  result.may_wrap = a.may_wrap || b.may_wrap;
  return result;
}

// A value of few bits has no others.
LaneBits cut_to(LaneBits bits, unsigned width) {
  for (auto& growth : bits.growth) {
    if (!growth || width >= 32) continue;
    const std::int64_t modulus = std::int64_t{1} << width;
    if (*growth % modulus == 0) {
      growth = 0;
    } else if (std::abs(*growth) >= modulus) {
      growth.reset();
    }
  }
  return bits;
}

bool share_none(const LaneBits& a, const LaneBits& b) {
  for (unsigned i = 0; i < bit_count; ++i) {
    if (a.growth[i] != 0 && b.growth[i] != 0) return false;
  }
  return true;
}

LaneBits with_zeros(LaneBits bits, unsigned zeros) {
  bits.zeros = std::min(zeros, most_zeros);
  return bits;
}

LaneBits common_of(LaneBits a, const LaneBits& b) {
  for (unsigned i = 0; i < bit_count; ++i) {
    if (a.growth[i] != b.growth[i]) a.growth[i].reset();
  }
  a.zeros = std::min(a.zeros, b.zeros);
  a.may_wrap |= b.may_wrap;
  return a;
}

// The result depends on the operands only, or, of loads, on what lies at a place.
bool is_function_of_operands(const Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isSimple();
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    return !intrinsic->mayReadOrWriteMemory() && !intrinsic->isConvergent();
  }
  return llvm::isa<llvm::BinaryOperator, llvm::CmpInst, llvm::SelectInst, llvm::CastInst, llvm::UnaryOperator,
                   llvm::ExtractElementInst, llvm::InsertElementInst, llvm::ShuffleVectorInst>(instruction);
}

}  // namespace

bool LaneBits::is_known() const {
  return llvm::any_of(growth, [](const auto& bit) { return bit.has_value(); });
}

bool LaneBits::is_apart(unsigned width) const {
  std::int64_t places = 0;
  for (const auto& bit : growth) {
    if (!bit || *bit < 0 || (*bit & (*bit - 1)) != 0 || (places & *bit) != 0) return false;
    places |= *bit;
  }
  return !may_wrap && places >> std::min({zeros, width, 63u}) == 0;
}

LaneBits LaneShapes::bits_of(const Value& value) const {
  const Shape shape = of(value);
  LaneBits result;
  if (shape.kind == Shape::Kind::varying) {
    result = bits_.lookup(&value);
    std::fill(result.growth.begin() + lane_bits_, result.growth.end(), 0);
    return result;
  }
  for (unsigned i = 0; i < bit_count; ++i) {
    result.growth[i] = i < lane_bits_ ? shape.stride * (std::int64_t{1} << i) : 0;
  }
  result.zeros = zeros_of(value);
  result.may_wrap = shape.may_wrap;
  return result;
}

unsigned LaneShapes::zeros_of(const Value& value) const {
  if (of(value).kind == Shape::Kind::strided) return zeros_.lookup(&value);
  if (!value.getType()->isIntegerTy()) return 0;
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&value); number && number->isZero()) return most_zeros;
  const auto* instruction = llvm::dyn_cast<Instruction>(&value);
  if (!instruction && !llvm::isa<llvm::ConstantInt>(value)) return 0;
  return llvm::computeKnownBits(&value, layout_).countMinTrailingZeros();
}

// Of lane 0's value of a strided one.
unsigned LaneShapes::derive_zeros(const Instruction& instruction) const {
  const auto zeros_at = [&](unsigned operand) { return zeros_of(*instruction.getOperand(operand)); };
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    return call->getIntrinsicID() == llvm::Intrinsic::not_intrinsic ? most_zeros : 0;  // the lane's number
  }
  switch (instruction.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Or: return std::min(zeros_at(0), zeros_at(1));
    case Instruction::Mul: return std::min(zeros_at(0) + zeros_at(1), most_zeros);
    case Instruction::Shl: {
      const auto* amount = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
      return amount ? std::min(zeros_at(0) + static_cast<unsigned>(amount->getZExtValue()), most_zeros) : 0;
    }
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc:
    case Instruction::Freeze: return zeros_at(0);
    case Instruction::Select: return std::min(zeros_at(1), zeros_at(2));
    case Instruction::PHI: {
      unsigned zeros = most_zeros;
      for (const Value* incoming : llvm::cast<llvm::PHINode>(instruction).incoming_values()) {
        if (of(*incoming).kind == Shape::Kind::strided && !seen_.contains(incoming)) continue;
        zeros = std::min(zeros, zeros_of(*incoming));
      }
      return zeros;
    }
    default: return 0;
  }
}

// Phis of loops begin as what enters the loop, and lose what their turns do not have in common. What was lost stays so:
// where less is known of operands, more may seem to be of a result, for ever in turns.
void LaneShapes::find_bits(const std::vector<llvm::BasicBlock*>& order) {
  seen_.clear();
  for (bool changed = true; changed;) {
    changed = false;
    for (const llvm::BasicBlock* block : order) {
      for (const Instruction& instruction : *block) {
        if (instruction.getType()->isVoidTy() || of(instruction).kind != Shape::Kind::strided) continue;
        const unsigned zeros = derive_zeros(instruction);
        changed |= !seen_.contains(&instruction) || zeros_[&instruction] != zeros;
        zeros_[&instruction] = zeros;
        seen_.insert(&instruction);
      }
    }
  }
  for (bool first = true, changed = true; changed; first = false) {
    changed = false;
    for (const llvm::BasicBlock* block : order) {
      for (const Instruction& instruction : *block) {
        if (instruction.getType()->isVoidTy() || !is_varying(instruction)) continue;
        const auto known = bits_.find(&instruction);
        if (!first && known == bits_.end()) continue;
        const LaneBits bits = derive_bits(instruction);
        if (first) {
          if (bits.is_known()) bits_[&instruction] = bits;
          seen_.insert(&instruction);
          changed = true;
        } else if (LaneBits common = common_of(known->second, bits); common != known->second) {
          known->second = common;
          if (!known->second.is_known()) bits_.erase(known);
          changed = true;
        }
      }
    }
  }
}

LaneBits LaneShapes::phi_bits(const llvm::PHINode& phi) const {
  if (!meets_together_.lookup(phi.getParent())) return {};
  std::optional<LaneBits> common;
  for (const Value* incoming : phi.incoming_values()) {
    if (llvm::isa<Instruction>(incoming) && is_varying(*incoming) && !seen_.contains(incoming)) continue;
    const LaneBits bits = bits_of(*incoming);
    common = common ? common_of(*common, bits) : bits;
  }
  return common.value_or(LaneBits{});
}

LaneBits LaneShapes::derive_bits(const Instruction& instruction) const {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return phi_bits(*phi);
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return address_bits(*address);
  if (!is_function_of_operands(instruction)) return {};
  const auto bits_at = [&](unsigned operand) { return bits_of(*instruction.getOperand(operand)); };
  if (llvm::isa<llvm::SelectInst>(instruction) && instruction.getType()->isIntOrPtrTy() &&
      is_uniform(*instruction.getOperand(0))) {
    return common_of(bits_at(1), bits_at(2));
  }
  const auto* number =
      instruction.getNumOperands() == 2 ? llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1)) : nullptr;
  const std::optional<std::int64_t> constant =
      number && number->getValue().getSignificantBits() <= 33 ? std::optional(number->getSExtValue()) : std::nullopt;
  const bool is_integer = instruction.getType()->isIntegerTy() && instruction.getType()->getIntegerBitWidth() >= 16;
  if (is_integer) {
    const unsigned width = instruction.getType()->getIntegerBitWidth();
    switch (instruction.getOpcode()) {
      case Instruction::Add: return cut_to(sum(bits_at(0), bits_at(1), 1), width);
      case Instruction::Sub: return cut_to(sum(bits_at(0), bits_at(1), -1), width);
      case Instruction::Or: {
        const LaneBits both = sum(bits_at(0), bits_at(1), 1);
        if (both.is_apart(width) && share_none(bits_at(0), bits_at(1))) return both;
        break;
      }
      case Instruction::And:
        if (!constant || !bits_at(0).is_apart(width)) break;
        return with_zeros(map_bits(bits_at(0), [&](std::int64_t place) { return place & *constant; }),
                          bits_at(0).zeros);
      case Instruction::LShr:
        if (!constant || !bits_at(0).is_apart(width)) break;
        return with_zeros(map_bits(bits_at(0), [&](std::int64_t place) { return place >> *constant; }),
                          bits_at(0).zeros - std::min<unsigned>(bits_at(0).zeros, static_cast<unsigned>(*constant)));
      case Instruction::Shl: {
        if (!constant || *constant > 20) break;
        return cut_to(
            with_zeros(map_bits(bits_at(0), [&](std::int64_t place) { return place * (std::int64_t{1} << *constant); }),
                       bits_at(0).zeros + static_cast<unsigned>(*constant)),
            width);
      }
      case Instruction::Mul:
        if (!constant) break;
        return cut_to(with_zeros(map_bits(bits_at(0), [&](std::int64_t growth) { return growth * *constant; }),
                                 bits_at(0).zeros + number->getValue().countr_zero()),
                      width);
      case Instruction::ZExt:
      case Instruction::SExt: {
        const unsigned narrow = instruction.getOperand(0)->getType()->getIntegerBitWidth();
        LaneBits bits = bits_at(0);
        // The sign is no place for a bit of the lane.
        const bool is_signed = instruction.getOpcode() == Instruction::SExt;
        if (bits.is_apart(is_signed ? narrow - 1 : narrow)) return bits;
        if (narrow < 32) break;  // of what is narrower, only bits
        bits.may_wrap |= llvm::any_of(bits.growth, [](const auto& growth) { return growth && *growth != 0; });
        return bits;
      }
      case Instruction::Trunc: {
        LaneBits bits = cut_to(bits_at(0), width);
        if (width < 32 && !bits_at(0).is_apart(64)) break;
        bits.may_wrap &= width > 32;
        return bits;
      }
      default: break;
    }
  }
  LaneBits result;
  for (unsigned i = 0; i < bit_count; ++i) {
    const bool depends = llvm::any_of(instruction.operands(), [&](const llvm::Use& operand) {
      if (llvm::isa<llvm::Function>(operand)) return false;
      const LaneBits bits = bits_of(*operand);
      return bits.may_wrap || bits.growth[i] != 0;
    });
    if (!depends) result.growth[i] = 0;
  }
  return result;
}

LaneBits LaneShapes::address_bits(const llvm::GetElementPtrInst& address) const {
  if (address.getType()->isVectorTy()) return {};
  const llvm::DataLayout& layout = address.getModule()->getDataLayout();
  LaneBits result = bits_of(*address.getPointerOperand());
  for (auto step = llvm::gep_type_begin(address); step != llvm::gep_type_end(address); ++step) {
    if (step.isStruct()) continue;
    const auto size = static_cast<std::int64_t>(step.getSequentialElementStride(layout).getFixedValue());
    result = sum(result, map_bits(bits_of(*step.getOperand()), [&](std::int64_t growth) { return growth * size; }), 1);
  }
  result.zeros = 0;
  return result;
}

}  // namespace metalloid::engines::simd
