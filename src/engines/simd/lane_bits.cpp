// Which bits of the lane's number varying values depend on, and how (lane_shapes.h).
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "engines/simd/lane_shapes.h"
#include "engines/simd/lane_target.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr unsigned bit_count = 5;
constexpr std::int64_t largest = std::int64_t{1} << 30;

template <typename Change>
LaneBits map_bits(const LaneBits& bits, Change change) {
  LaneBits result;
  for (unsigned i = 0; i < bit_count; ++i) {
    if (!bits.growth[i]) continue;
    const std::int64_t changed = change(*bits.growth[i]);
    if (changed <= largest && changed >= -largest) result.growth[i] = changed;
  }
  return result;
}

LaneBits sum(const LaneBits& a, const LaneBits& b, std::int64_t sign) {
  LaneBits result;
  bool apart = a.is_pure && b.is_pure && sign > 0;
  std::int64_t places = 0;
  for (unsigned i = 0; i < bit_count; ++i) {
    if (!a.growth[i] || !b.growth[i]) continue;
    result.growth[i] = *a.growth[i] + sign * *b.growth[i];
    for (const std::int64_t place : {*a.growth[i], *b.growth[i]}) {
      apart &= (places & place) == 0;
      places |= place;
    }
    apart &= *a.growth[i] == 0 || *b.growth[i] == 0;
  }
  result.is_pure = apart;
  return result;
}

LaneBits pure(LaneBits bits) {
  bits.is_pure = true;
  return bits;
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

LaneBits LaneShapes::bits_of(const Value& value) const {
  const Shape shape = of(value);
  LaneBits result;
  if (shape.kind != Shape::Kind::varying) {
    for (unsigned i = 0; i < bit_count; ++i) result.growth[i] = shape.stride << i;
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&value);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    result.is_pure = callee && callee->getName() == llvm::StringRef(lane_number_name);
    if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&value); cast && cast->getType()->isIntegerTy()) {
      result.is_pure = bits_of(*cast->getOperand(0)).is_pure;
    }
    return result;
  }
  return bits_.lookup(&value);
}

// Phis of loops begin as what enters the loop, and lose what their turns do not have in common.
void LaneShapes::find_bits(const std::vector<llvm::BasicBlock*>& order) {
  seen_.clear();
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
        } else if (bits != known->second) {
          for (unsigned i = 0; i < bit_count; ++i) {
            if (known->second.growth[i] != bits.growth[i]) known->second.growth[i].reset();
          }
          known->second.is_pure &= bits.is_pure;
          if (!known->second.is_known()) bits_.erase(known);
          changed = true;
        }
      }
    }
  }
}

LaneBits LaneShapes::phi_bits(const llvm::PHINode& phi) const {
  if (!is_loop_header_.lookup(phi.getParent())) return {};
  std::optional<LaneBits> common;
  for (const Value* incoming : phi.incoming_values()) {
    if (llvm::isa<Instruction>(incoming) && is_varying(*incoming) && !seen_.contains(incoming)) continue;
    const LaneBits bits = bits_of(*incoming);
    if (!common) {
      common = bits;
      common->is_pure = false;
    }
    for (unsigned i = 0; i < bit_count; ++i) {
      if (common->growth[i] != bits.growth[i]) common->growth[i].reset();
    }
  }
  return common.value_or(LaneBits{});
}

LaneBits LaneShapes::derive_bits(const Instruction& instruction) const {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return phi_bits(*phi);
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return address_bits(*address);
  if (!is_function_of_operands(instruction)) return {};
  const auto bits_at = [&](unsigned operand) { return bits_of(*instruction.getOperand(operand)); };
  const auto* number = instruction.getNumOperands() == 2
                           ? llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1))
                           : nullptr;
  const std::optional<std::int64_t> constant =
      number && number->getValue().getSignificantBits() <= 33 ? std::optional(number->getSExtValue()) : std::nullopt;
  const bool is_integer =
      instruction.getType()->isIntegerTy() && instruction.getType()->getIntegerBitWidth() >= 16;
  if (is_integer) {
    switch (instruction.getOpcode()) {
      case Instruction::Add: return sum(bits_at(0), bits_at(1), 1);
      case Instruction::Sub: return sum(bits_at(0), bits_at(1), -1);
      case Instruction::Or: {
        const LaneBits both = sum(bits_at(0), bits_at(1), 1);
        if (both.is_pure || llvm::cast<llvm::PossiblyDisjointInst>(instruction).isDisjoint()) return both;
        break;
      }
      case Instruction::And:
        if (!constant || !bits_at(0).is_pure) break;
        return pure(map_bits(bits_at(0), [&](std::int64_t place) { return place & *constant; }));
      case Instruction::LShr:
        if (!constant || !bits_at(0).is_pure) break;
        return pure(map_bits(bits_at(0), [&](std::int64_t place) { return place >> *constant; }));
      case Instruction::Shl: {
        if (!constant || *constant > 20) break;
        LaneBits bits = map_bits(bits_at(0), [&](std::int64_t place) { return place * (std::int64_t{1} << *constant); });
        bits.is_pure = bits_at(0).is_pure;
        return bits;
      }
      case Instruction::Mul:
        if (!constant) break;
        return map_bits(bits_at(0), [&](std::int64_t growth) { return growth * *constant; });
      case Instruction::ZExt:
      case Instruction::SExt:
      case Instruction::Trunc:
        // As LaneShapes has it, narrow sums may wrap where rows of memory do not; of what is narrower, only bits.
        if (instruction.getOperand(0)->getType()->getIntegerBitWidth() >= 32 || bits_at(0).is_pure) return bits_at(0);
        break;
      default: break;
    }
  }
  LaneBits result;
  for (unsigned i = 0; i < bit_count; ++i) {
    const bool depends = llvm::any_of(instruction.operands(), [&](const llvm::Use& operand) {
      return !llvm::isa<llvm::Function>(operand) && bits_of(*operand).growth[i] != 0;
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
  result.is_pure = false;
  return result;
}

}  // namespace metalloid::engines::simd
