// Segments of varying values (lane_shapes.h): what differs from lane to lane by arithmetic on parts of the lane's number.
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <optional>

#include "engines/simd/lane_shapes.h"
#include "engines/simd/lane_target.h"
#include "engines/simd/widening.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr Segments none{};
constexpr std::int64_t largest_stride = std::int64_t{1} << 20;

Segments made(unsigned width, std::int64_t stride) {
  if (width == 0 || width >= simdgroup_width || stride > largest_stride || stride < -largest_stride) return none;
  return {width, stride};
}

bool is_lane_number(const Value* value) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName() == llvm::StringRef(lane_number_name);
}

// The result depends on the operands only, or, of loads, on the place that all of a segment read.
bool is_function_of_operands(const Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isSimple();
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    return !intrinsic->mayReadOrWriteMemory() && !intrinsic->isConvergent();
  }
  return llvm::isa<llvm::BinaryOperator, llvm::CmpInst, llvm::SelectInst, llvm::CastInst, llvm::UnaryOperator,
                   llvm::GetElementPtrInst>(instruction);
}

}  // namespace

Segments LaneShapes::segments_of(const Value& value) const {
  const Shape shape = of(value);
  if (shape.kind != Shape::Kind::varying) return {simdgroup_width, shape.stride};
  return segments_.lookup(&value);
}

void LaneShapes::find_segments(const std::vector<llvm::BasicBlock*>& order) {
  seen_.clear();
  for (const llvm::BasicBlock* block : order) {
    for (const Instruction& instruction : *block) {
      if (!instruction.getType()->isVoidTy() && is_varying(instruction)) {
        if (const Segments segments = derive_segments(instruction); segments != none) {
          segments_[&instruction] = segments;
        }
      }
      seen_.insert(&instruction);
    }
  }
  for (bool changed = !segments_.empty(); changed;) {
    changed = false;
    for (const llvm::BasicBlock* block : order) {
      for (const Instruction& instruction : *block) {
        const auto known = segments_.find(&instruction);
        if (known == segments_.end() || derive_segments(instruction) == known->second) continue;
        segments_.erase(known);
        changed = true;
      }
    }
  }
}

Segments LaneShapes::derive_segments(const Instruction& instruction) const {
  const auto segments_at = [&](unsigned operand) { return segments_of(*instruction.getOperand(operand)); };
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
    if (!is_loop_header_.lookup(phi->getParent())) return none;
    std::optional<Segments> common;
    for (const Value* incoming : phi->incoming_values()) {
      if (llvm::isa<Instruction>(incoming) && !seen_.contains(incoming)) continue;
      Segments segments = segments_of(*incoming);
      if (segments.width == 0) return none;
      if (common && common->stride != segments.stride) return none;
      common = Segments{common ? std::min(common->width, segments.width) : segments.width, segments.stride};
    }
    return common ? made(common->width, common->stride) : none;
  }
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return address_segments(*address);
  if (!is_function_of_operands(instruction)) return none;
  const auto* constant = instruction.getNumOperands() == 2
                             ? llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1))
                             : nullptr;
  if (constant && is_lane_number(instruction.getOperand(0)) && constant->getValue().ult(simdgroup_width)) {
    const std::uint64_t number = constant->getZExtValue();
    if (instruction.getOpcode() == Instruction::And && (number == 7 || number == 15)) {
      return made(static_cast<unsigned>(number + 1), 1);
    }
    if (instruction.getOpcode() == Instruction::LShr && (number == 3 || number == 4)) return made(1u << number, 0);
  }
  unsigned width = simdgroup_width;
  bool all_same = true;
  for (unsigned i = 0; i < instruction.getNumOperands(); ++i) {
    if (llvm::isa<llvm::Function>(instruction.getOperand(i))) continue;
    const Segments segments = segments_at(i);
    if (segments.width == 0) return none;
    width = std::min(width, segments.width);
    all_same &= segments.stride == 0;
  }
  if (all_same) return made(width, 0);
  if (!instruction.getType()->isIntegerTy() || instruction.getType()->getIntegerBitWidth() < 32) return none;
  switch (instruction.getOpcode()) {
    case Instruction::Add: return made(width, segments_at(0).stride + segments_at(1).stride);
    case Instruction::Sub: return made(width, segments_at(0).stride - segments_at(1).stride);
    case Instruction::Or:
      if (!llvm::cast<llvm::PossiblyDisjointInst>(instruction).isDisjoint()) return none;
      return made(width, segments_at(0).stride + segments_at(1).stride);
    case Instruction::Mul:
      if (!constant || constant->getValue().getSignificantBits() > 21) return none;
      return made(width, segments_at(0).stride * constant->getSExtValue());
    case Instruction::Shl:
      if (!constant || constant->getZExtValue() > 20) return none;
      return made(width, segments_at(0).stride << constant->getZExtValue());
    case Instruction::ZExt:
    case Instruction::SExt:
      if (instruction.getOperand(0)->getType()->getIntegerBitWidth() < 32) return none;
      return made(width, segments_at(0).stride);
    case Instruction::Trunc: return made(width, segments_at(0).stride);
    default: return none;
  }
}

Segments LaneShapes::address_segments(const llvm::GetElementPtrInst& address) const {
  if (address.getType()->isVectorTy()) return none;
  const llvm::DataLayout& layout = address.getModule()->getDataLayout();
  Segments result = segments_of(*address.getPointerOperand());
  if (result.width == 0) return none;
  for (auto step = llvm::gep_type_begin(address); step != llvm::gep_type_end(address); ++step) {
    const Segments segments = segments_of(*step.getOperand());
    if (segments.width == 0 || (step.isStruct() && segments.stride != 0)) return none;
    result.width = std::min(result.width, segments.width);
    if (segments.stride != 0) {
      result.stride += segments.stride * static_cast<std::int64_t>(step.getSequentialElementStride(layout).getFixedValue());
    }
  }
  return made(result.width, result.stride);
}

}  // namespace metalloid::engines::simd
