#include "engines/simd/lane/follow_rows.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "engines/simd/shapes/lane_shapes.h"
#include "engines/simd/shapes/lane_target.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr std::size_t most_twice = 400;  // instructions
constexpr unsigned most_depth = 8;       // operands below each other

enum class Part : std::uint8_t { quotient, remainder, multiple };  // of which: what is left without the remainder

struct Division {
  llvm::BinaryOperator* instruction;
  Value *index, *divisor;
  std::uint32_t stride;  // from lane to lane, of the index
  Part part;
};

class Rows {
 public:
  explicit Rows(llvm::Function& lane)
      : lane_(lane),
        dominators_(managers_.functions.getResult<llvm::DominatorTreeAnalysis>(lane)),
        loops_(managers_.functions.getResult<llvm::LoopAnalysis>(lane)),
        shapes_(lane, managers_.functions.getResult<llvm::UniformityInfoAnalysis>(lane)) {}

  void follow() {
    find_divisions();
    if (divisions_.empty() || !find_region()) return;
    Instruction* first = divisions_[0].instruction;
    BasicBlock* head = first->getParent();
    BasicBlock* general = llvm::SplitBlock(head, first);
    region_[0] = general;
    llvm::IRBuilder<> builder(head->getTerminator());
    builder.SetCurrentDebugLocation(first->getDebugLoc());
    for (const Division& division : divisions_) divide_once(builder, division);
    llvm::ValueToValueMapTy twins;
    BasicBlock* row = copy_region(twins);
    llvm::BranchInst* branch = builder.CreateCondBr(stays_, row, general);
    branch->getNextNode()->eraseFromParent();
    for (const Division& division : divisions_) {
      auto* twin = llvm::cast<Instruction>(static_cast<Value*>(twins[division.instruction]));
      const Once& once = once_[{division.index, division.divisor}];
      Value* result = division.part == Part::quotient ? once.quotient : once.multiple;
      if (division.part == Part::remainder) {
        builder.SetInsertPoint(twin);
        Value* further = lane_number_;
        if (division.stride != 1) {
          further = builder.CreateMul(further, builder.getInt32(division.stride), "", /*HasNUW=*/true);
        }
        result = builder.CreateAdd(once.remainder, further, "", /*HasNUW=*/true);
      }
      twin->replaceAllUsesWith(result);
      twin->eraseFromParent();
    }
  }

 private:
  // The same for all divisions that can be made where the first one is.
  void find_divisions() {
    const llvm::Function* number = lane_.getParent()->getFunction(llvm::StringRef(lane_number_name));
    for (Instruction& instruction : lane_.getEntryBlock()) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (number && call && call->getCalledFunction() == number) lane_number_ = &instruction;
    }
    if (!lane_number_) return;
    for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&lane_)) {
      if (loops_.getLoopFor(block)) continue;
      for (Instruction& instruction : *block) {
        const auto division = division_of(instruction);
        if (!division) continue;
        Instruction* first = divisions_.empty() ? &instruction : divisions_[0].instruction;
        const auto is_there = [&](Value* operand) { return dominators_.dominates(operand, first); };
        if (!dominators_.dominates(first->getParent(), block)) continue;
        if (is_there(division->index) && is_there(division->divisor) && can_be_in_lane_0(*division->index)) {
          divisions_.push_back(*division);
        }
      }
    }
  }

  std::optional<Division> division_of(Instruction& instruction) const {
    auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
    if (!operation || !operation->getType()->isIntegerTy(32)) return std::nullopt;
    Value *index = operation->getOperand(0), *divisor = operation->getOperand(1);
    const Shape shape = shapes_.of(*index);
    if (shape.kind != Shape::Kind::strided || shape.stride < 1 || !shapes_.is_uniform(*divisor)) return std::nullopt;
    const auto stride = static_cast<std::uint32_t>(shape.stride);
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(divisor);
    const auto by = [&](std::uint64_t number, Part part) -> std::optional<Division> {
      if (number < std::uint64_t{step_width(lane_)} * stride) return std::nullopt;
      return Division{operation, index, llvm::ConstantInt::get(divisor->getType(), number), stride, part};
    };
    switch (operation->getOpcode()) {
      case Instruction::UDiv:
      case Instruction::URem: {
        const Part part = operation->getOpcode() == Instruction::URem ? Part::remainder : Part::quotient;
        if (constant) return by(constant->getZExtValue(), part);
        if (!llvm::isKnownNonZero(divisor, llvm::SimplifyQuery(operation->getDataLayout()))) return std::nullopt;
        return Division{operation, index, divisor, stride, part};
      }
      case Instruction::LShr:
        if (!constant || constant->getZExtValue() >= 32) return std::nullopt;
        return by(std::uint64_t{1} << constant->getZExtValue(), Part::quotient);
      case Instruction::And:
        if (!constant || constant->isMinusOne()) return std::nullopt;
        if (constant->getValue().isMask()) return by(constant->getZExtValue() + 1, Part::remainder);
        if (!constant->getValue().isNegatedPowerOf2()) return std::nullopt;
        return by((-constant->getValue()).getZExtValue(), Part::multiple);
      default: return std::nullopt;
    }
  }

  // Everything behind the first division, which only goes on to what all ways lead to.
  bool find_region() {
    BasicBlock* begin = divisions_[0].instruction->getParent();
    std::size_t size = 0;
    llvm::SmallVector<BasicBlock*, 16> blocks;
    dominators_.getDescendants(begin, blocks);
    region_.assign(blocks.begin(), blocks.end());
    for (const BasicBlock* block : region_) size += block->size();
    return size <= most_twice && region_[0] == begin;
  }

  bool can_be_in_lane_0(const Value& value, unsigned depth = most_depth) const {
    if (&value == lane_number_ || shapes_.is_uniform(value)) return true;
    const auto* instruction = llvm::dyn_cast<Instruction>(&value);
    if (!instruction || depth == 0) return false;
    if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst>(instruction)) return false;
    if (instruction->isIntDivRem()) return false;  // may trap for a lane that would not divide
    return llvm::all_of(instruction->operands(),
                        [&](const llvm::Use& operand) { return can_be_in_lane_0(*operand, depth - 1); });
  }

  Value* in_lane_0(llvm::IRBuilder<>& builder, Value* value) {
    if (value == lane_number_) return builder.getInt32(0);
    if (shapes_.is_uniform(*value)) return value;
    auto* copy = llvm::cast<Instruction>(value)->clone();
    copy->dropPoisonGeneratingAnnotations();  // which hold for lanes that come here; lane 0 need not
    for (llvm::Use& operand : copy->operands()) operand.set(in_lane_0(builder, operand));
    return builder.Insert(copy);
  }

  void divide_once(llvm::IRBuilder<>& builder, const Division& division) {
    auto [place, is_new] = once_.try_emplace({division.index, division.divisor});
    if (!is_new) return;
    Value* index = in_lane_0(builder, division.index);
    Value* quotient = builder.CreateUDiv(index, division.divisor);
    Value* multiple = builder.CreateMul(quotient, division.divisor);
    Value* remainder = builder.CreateSub(index, multiple);
    place->second = {quotient, multiple, remainder};
    const std::uint32_t further = (step_width(lane_) - 1) * division.stride;
    Value* stays = builder.CreateICmpUGT(builder.CreateSub(division.divisor, remainder), builder.getInt32(further));
    stays = builder.CreateAnd(stays, builder.CreateICmpULE(index, builder.getInt32(~further)));
    stays_ = stays_ ? builder.CreateAnd(stays_, stays) : stays;
  }

  // Returns where the copy begins.
  BasicBlock* copy_region(llvm::ValueToValueMapTy& twins) {
    llvm::SmallVector<BasicBlock*, 16> copies;
    for (BasicBlock* block : region_) {
      copies.push_back(llvm::CloneBasicBlock(block, twins, ".row", &lane_));
      twins[block] = copies.back();
    }
    llvm::remapInstructionsInBlocks(copies, twins);
    const llvm::SmallPtrSet<BasicBlock*, 16> own(region_.begin(), region_.end());
    for (BasicBlock* block : region_) {
      for (BasicBlock* behind : llvm::successors(block)) {  // as often as there are ways to it
        if (own.contains(behind)) continue;
        for (llvm::PHINode& phi : behind->phis()) {
          auto* copy = llvm::cast<BasicBlock>(static_cast<Value*>(twins[block]));
          Value* value = phi.getIncomingValueForBlock(block);
          Value* twin = twins.lookup(value);
          phi.addIncoming(twin ? twin : value, copy);
        }
      }
    }
    return copies[0];
  }

  llvm::Function& lane_;
  LaneManagers managers_;
  const llvm::DominatorTree& dominators_;
  const llvm::LoopInfo& loops_;
  const LaneShapes shapes_;
  Instruction* lane_number_ = nullptr;
  llvm::SmallVector<Division, 4> divisions_;
  llvm::SmallVector<BasicBlock*, 16> region_;  // the first one is where the others come from
  struct Once {
    Value *quotient = nullptr, *multiple = nullptr, *remainder = nullptr;
  };
  llvm::DenseMap<std::pair<Value*, Value*>, Once> once_;
  Value* stays_ = nullptr;
};

}  // namespace

void follow_rows(llvm::Function& lane) { Rows(lane).follow(); }

}  // namespace metalloid::engines::simd
