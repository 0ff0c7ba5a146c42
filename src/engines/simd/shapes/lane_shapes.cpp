#include "engines/simd/shapes/lane_shapes.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <optional>
#include <vector>

#include "engines/simd/shapes/lane_target.h"
#include "engines/simd/shapes/parameter_shapes.h"
#include "ir/meeting_order.h"
#include "ir/support/pointer_tags.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Instruction;
using llvm::Value;
using Kind = Shape::Kind;

constexpr Shape uniform_shape{Kind::uniform};
constexpr Shape varying_shape{Kind::varying};

// Larger ones are of no use to memory accesses, and their multiples could overflow.
constexpr std::int64_t largest_stride = std::int64_t{1} << 20;

Shape strided(std::int64_t stride, bool may_wrap = false) {
  if (stride == 0 || stride > largest_stride || stride < -largest_stride) return varying_shape;
  return {Kind::strided, stride, may_wrap};
}

constexpr unsigned most_depth = 8;  // operands below each other

// Whether a value that grows from lane to lane wraps in none that takes part, nor in those before it.
bool grows_without_wrapping(const Value& value, const LaneShapes& shapes, unsigned depth = most_depth) {
  if (shapes.is_uniform(value)) return true;
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&value)) {
    const llvm::Function* callee = call->getCalledFunction();
    return callee && callee->getName() == llvm::StringRef(lane_number_name);
  }
  const auto* operation = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&value);
  return operation && depth > 0 && operation->hasNoUnsignedWrap() && operation->getOpcode() != Instruction::Sub &&
         grows_without_wrapping(*operation->getOperand(0), shapes, depth - 1) &&
         grows_without_wrapping(*operation->getOperand(1), shapes, depth - 1);
}

std::optional<std::int64_t> small_constant(const Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  if (!constant || constant->getValue().getSignificantBits() > 32) return std::nullopt;
  return constant->getSExtValue();
}

}  // namespace

LaneShapes::LaneShapes(llvm::Function& function, llvm::UniformityInfo& uniformity)
    : uniformity_(uniformity), lane_bits_(llvm::Log2_32(step_width(function))), layout_(function.getDataLayout()) {
  for (const llvm::Argument& parameter : function.args()) parameters_.push_back(shape_of_parameter(parameter).shape);
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  const std::vector<llvm::BasicBlock*> order = ir::meeting_order(function);
  for (const llvm::BasicBlock* block : order) {
    const bool has_phis = !block->phis().empty();
    meets_together_[block] = has_phis && (loops.isLoopHeader(block) || is_reached_together(*block, dominators, loops));
  }
  // Phis of loops begin as strided as what enters the loop, and are taken back where turns disagree.
  for (const llvm::BasicBlock* block : order) {
    for (const Instruction& instruction : *block) {
      if (!instruction.getType()->isVoidTy() && !uniformity_.isUniform(&instruction)) {
        if (const Shape shape = derive(instruction); shape.kind == Kind::strided) strided_[&instruction] = shape;
      }
      seen_.insert(&instruction);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const llvm::BasicBlock* block : order) {
      for (const Instruction& instruction : *block) {
        const auto known = strided_.find(&instruction);
        if (known == strided_.end()) continue;
        const Shape shape = derive(instruction);
        if (shape == known->second) continue;
        if (shape.kind == Kind::strided && shape.stride == known->second.stride) {
          known->second.may_wrap = true;
        } else {
          strided_.erase(known);
        }
        changed = true;
      }
    }
  }
  find_bits(order);
}

// Whether lanes that part nowhere come to a block from one side: no branch behind the last block that all came through
// tells them apart. Nor may a loop end in between: what is behind each of its ends runs whether lanes left there or
// not.
bool LaneShapes::is_reached_together(const llvm::BasicBlock& block, const llvm::DominatorTree& dominators,
                                     const llvm::LoopInfo& loops) const {
  const auto* node = dominators.getNode(&block);
  if (!node || !node->getIDom()) return false;
  const llvm::BasicBlock* begin = node->getIDom()->getBlock();
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen = {begin, &block};
  llvm::SmallVector<const llvm::BasicBlock*, 16> left(llvm::pred_begin(&block), llvm::pred_end(&block));
  while (!left.empty()) {
    const llvm::BasicBlock* between = left.pop_back_val();
    if (!seen.insert(between).second || !dominators.isReachableFromEntry(between)) continue;
    if (diverges_behind(*between) || loops.getLoopFor(between) != loops.getLoopFor(&block)) return false;
    left.append(llvm::pred_begin(between), llvm::pred_end(between));
  }
  return !diverges_behind(*begin) && loops.getLoopFor(begin) == loops.getLoopFor(&block);
}

Shape LaneShapes::of(const Value& value) const {
  if (const auto* parameter = llvm::dyn_cast<llvm::Argument>(&value)) return parameters_[parameter->getArgNo()];
  if (!llvm::isa<Instruction>(value)) return uniform_shape;
  if (const auto found = strided_.find(&value); found != strided_.end()) return found->second;
  return uniformity_.isUniform(llvm::cast<Instruction>(&value)) ? uniform_shape : varying_shape;
}

bool LaneShapes::diverges_behind(const llvm::BasicBlock& block) const {
  const Instruction* last = block.getTerminator();
  return last->getNumSuccessors() > 1 && uniformity_.hasDivergentTerminator(block);
}

Shape LaneShapes::derive(const Instruction& instruction) const {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return derive_phi(*phi);
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    // A tag that a row of addresses is rid of is that of all (ir/support/pointer_tags.h).
    if (ir::is_bare(*call)) return of(*call->getArgOperand(0));
    const llvm::Function* callee = call->getCalledFunction();
    return callee && callee->getName() == llvm::StringRef(lane_number_name) ? strided(1) : varying_shape;
  }
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return derive_address(*address);
  if (!instruction.getType()->isIntOrPtrTy()) return varying_shape;
  const auto shape_of = [&](unsigned operand) { return of(*instruction.getOperand(operand)); };
  switch (instruction.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub: {
      const Shape a = shape_of(0), b = shape_of(1);
      if (a.kind == Kind::varying || b.kind == Kind::varying) return varying_shape;
      return strided(instruction.getOpcode() == Instruction::Add ? a.stride + b.stride : a.stride - b.stride,
                     a.may_wrap || b.may_wrap);
    }
    case Instruction::Mul: {
      const unsigned constant = llvm::isa<llvm::ConstantInt>(instruction.getOperand(1)) ? 1 : 0;
      const auto factor = small_constant(instruction.getOperand(constant));
      const Shape other = shape_of(1 - constant);
      return factor && other.kind == Kind::strided ? strided(other.stride * *factor, other.may_wrap) : varying_shape;
    }
    case Instruction::Shl: {
      const auto amount = small_constant(instruction.getOperand(1));
      const Shape value = shape_of(0);
      if (!amount || *amount > 20 || value.kind != Kind::strided) return varying_shape;
      return strided(value.stride * (std::int64_t{1} << *amount), value.may_wrap);
    }
    case Instruction::ZExt:
    case Instruction::SExt: return derive_extension(llvm::cast<llvm::CastInst>(instruction));
    case Instruction::Trunc: {
      const unsigned width = instruction.getType()->getIntegerBitWidth();
      const Shape value = shape_of(0);
      if (width < 32 || value.kind != Kind::strided) return varying_shape;
      return strided(value.stride, value.may_wrap && width > 32);  // in 32 bits all sums wrap alike
    }
    case Instruction::Select: {
      const Shape a = shape_of(1), b = shape_of(2);
      if (shape_of(0).kind != Kind::uniform || a.kind != Kind::strided || b.kind != Kind::strided) return varying_shape;
      return a.stride == b.stride ? strided(a.stride, a.may_wrap || b.may_wrap) : varying_shape;
    }
    case Instruction::AddrSpaceCast:
    case Instruction::PtrToInt:
    case Instruction::Freeze: return shape_of(0);
    default: return varying_shape;
  }
}

Shape LaneShapes::derive_extension(const llvm::CastInst& extension) const {
  const Value& narrow = *extension.getOperand(0);
  const unsigned width = narrow.getType()->getIntegerBitWidth();
  const Shape shape = of(narrow);
  if (width < 32 || shape.kind != Kind::strided) return varying_shape;
  const bool is_signed = extension.getOpcode() == Instruction::SExt;
  const bool grows = !is_signed && shape.stride > 0 && grows_without_wrapping(narrow, *this);
  return strided(shape.stride, shape.may_wrap || !grows);
}

Shape LaneShapes::derive_address(const llvm::GetElementPtrInst& address) const {
  if (address.getType()->isVectorTy()) return varying_shape;
  const llvm::DataLayout& layout = address.getModule()->getDataLayout();
  Shape base = of(*address.getPointerOperand());
  if (base.kind == Kind::varying) return varying_shape;
  std::int64_t stride = base.stride;
  bool may_wrap = base.may_wrap;
  for (auto step = llvm::gep_type_begin(address); step != llvm::gep_type_end(address); ++step) {
    const Value* index = step.getOperand();
    const Shape shape = of(*index);
    if (shape.kind == Kind::uniform) continue;
    if (shape.kind == Kind::varying || step.isStruct()) return varying_shape;
    stride += shape.stride * static_cast<std::int64_t>(step.getSequentialElementStride(layout).getFixedValue());
    may_wrap |= shape.may_wrap;
  }
  return strided(stride, may_wrap);
}

// Lanes of one turn come to a loop's header together. At other joins they may come from different sides.
Shape LaneShapes::derive_phi(const llvm::PHINode& phi) const {
  if (!phi.getType()->isIntOrPtrTy() || !meets_together_.lookup(phi.getParent())) return varying_shape;
  std::optional<Shape> common;
  for (const Value* incoming : phi.incoming_values()) {
    if (llvm::isa<Instruction>(incoming) && !seen_.contains(incoming)) continue;
    const Shape shape = of(*incoming);
    if (shape.kind != Kind::strided || (common && common->stride != shape.stride)) return varying_shape;
    common = strided(shape.stride, shape.may_wrap || (common && common->may_wrap));
  }
  return common.value_or(varying_shape);
}

}  // namespace metalloid::engines::simd
