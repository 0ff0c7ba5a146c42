#include "engines/simd/lane/choose_values.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Value;

// Instructions of all ways and choices, for each way.
constexpr unsigned most_for_each_way = 4;
constexpr unsigned most_ways = 8;

// What is as cheap for lanes that do not need it as a question whether there is one that does.
bool is_cheap(const llvm::Instruction& instruction) {
  if (instruction.isIntDivRem() || instruction.getOpcode() == llvm::Instruction::FDiv ||
      instruction.getOpcode() == llvm::Instruction::FRem || instruction.mayReadOrWriteMemory() ||
      instruction.getType()->isVectorTy() || instruction.getType()->isAggregateType() ||
      instruction.getType()->isPointerTy() || !llvm::isSafeToSpeculativelyExecute(&instruction)) {
    return false;
  }
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call) return true;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::fshl:
    case llvm::Intrinsic::fshr:
    case llvm::Intrinsic::bswap:
    case llvm::Intrinsic::umin:
    case llvm::Intrinsic::umax:
    case llvm::Intrinsic::smin:
    case llvm::Intrinsic::smax:
    case llvm::Intrinsic::abs:
    case llvm::Intrinsic::fabs:
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fmuladd: return true;
    default: return false;
  }
}

class Choice {
 public:
  explicit Choice(BasicBlock& block) : block_(block) {}

  bool run() {
    if (!find_ways() || !is_worth_it()) return false;
    choose();
    return true;
  }

 private:
  struct Way {
    BasicBlock* block;
    llvm::SmallVector<llvm::ConstantInt*, 2> numbers;
    bool is_own = false;  // not the meeting itself
  };

  static bool is_dead_end(const BasicBlock& block) {
    return llvm::isa<llvm::UnreachableInst>(block.getFirstNonPHIOrDbg());
  }

  // Where a way leads to; null if it does more than that.
  BasicBlock* end_of(BasicBlock& way) const {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(way.getTerminator());
    const bool is_own = way.getUniquePredecessor() == &block_ && !llvm::isa<llvm::PHINode>(way.front());
    return is_own && branch && branch->isUnconditional() && !branch->hasMetadata(llvm::LLVMContext::MD_loop)
               ? branch->getSuccessor(0)
               : nullptr;
  }

  // All but the last have a number; the last is taken by all others.
  bool find_ways() {
    llvm::Instruction* last = block_.getTerminator();
    if (last->hasMetadata(llvm::LLVMContext::MD_loop)) return false;
    if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(last); branch && branch->isConditional()) {
      ways_ = {{branch->getSuccessor(0), {}}, {branch->getSuccessor(1), {}}};
    } else if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(last)) {
      BasicBlock* rest = choice->getDefaultDest();
      llvm::MapVector<BasicBlock*, llvm::SmallVector<llvm::ConstantInt*, 2>> numbers;
      for (auto& one : choice->cases()) {
        if (one.getCaseSuccessor() != rest) numbers[one.getCaseSuccessor()].push_back(one.getCaseValue());
      }
      for (auto& [way, own] : numbers) ways_.push_back({way, own});
      if (!is_dead_end(*rest)) ways_.push_back({rest, {}});
    }
    if (ways_.size() < 2 || ways_.size() > most_ways) return false;
    for (const Way& way : ways_) {
      BasicBlock* end = end_of(*way.block);
      if (end && (!meeting_ || meeting_ == end)) meeting_ = end;
    }
    if (!meeting_ || meeting_ == &block_) return false;
    for (Way& way : ways_) {
      way.is_own = way.block != meeting_;
      if (way.is_own && end_of(*way.block) != meeting_) return false;
    }
    return ways_.front().block != ways_.back().block;
  }

  Value* brought(llvm::PHINode& phi, const Way& way) const {
    return phi.getIncomingValueForBlock(way.is_own ? way.block : &block_);
  }

  bool is_worth_it() const {
    // LLVM has decided about these.
    if (ways_.size() == 2 && !meeting_->hasNPredecessorsOrMore(3)) return false;
    unsigned cost = 0;
    for (const Way& way : ways_) {
      if (!way.is_own) continue;
      for (const llvm::Instruction& instruction : way.block->instructionsWithoutDebug()) {
        if (instruction.isTerminator()) break;
        if (!is_cheap(instruction)) return false;
        ++cost;
      }
    }
    for (llvm::PHINode& phi : meeting_->phis()) {
      Value* first = brought(phi, ways_.front());
      if (llvm::all_of(ways_, [&](const Way& way) { return brought(phi, way) == first; })) continue;
      if (!phi.getType()->isIntegerTy() && !phi.getType()->isFloatingPointTy()) return false;
      cost += static_cast<unsigned>(ways_.size()) - 1;
    }
    return cost <= most_for_each_way * ways_.size();
  }

  // Two words that are shifted by constants, or one of them as it is: what remains to be chosen are the constants.
  struct Shift {
    Value *high = nullptr, *low = nullptr;
  };
  static std::optional<Shift> same_shift(std::vector<Value*>& values) {
    Shift shift;
    for (Value* value : values) {
      if (const auto* call = as_shift(value)) shift = {call->getArgOperand(0), call->getArgOperand(1)};
    }
    if (!shift.high) return std::nullopt;
    std::vector<Value*> amounts;
    for (Value* value : values) {
      llvm::Type* type = value->getType();
      const unsigned bits = type->getIntegerBitWidth();
      const auto* call = as_shift(value);
      if (!call) {
        // To the right by nothing is the low word.
        if (value != shift.low) return std::nullopt;
        amounts.push_back(llvm::ConstantInt::get(type, 0));
        continue;
      }
      if (call->getArgOperand(0) != shift.high || call->getArgOperand(1) != shift.low) return std::nullopt;
      const std::uint64_t amount = llvm::cast<llvm::ConstantInt>(call->getArgOperand(2))->getZExtValue() % bits;
      const bool is_right = call->getIntrinsicID() == llvm::Intrinsic::fshr;
      if (amount == 0) return std::nullopt;
      amounts.push_back(llvm::ConstantInt::get(type, is_right ? amount : bits - amount));
    }
    values = amounts;
    return shift;
  }

  static const llvm::IntrinsicInst* as_shift(const Value* value) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
    const bool is_shift =
        call && (call->getIntrinsicID() == llvm::Intrinsic::fshl || call->getIntrinsicID() == llvm::Intrinsic::fshr);
    return is_shift && llvm::isa<llvm::ConstantInt>(call->getArgOperand(2)) ? call : nullptr;
  }

  void choose() {
    llvm::Instruction* last = block_.getTerminator();
    for (const Way& way : ways_) {
      if (!way.is_own) continue;
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(*way.block)) {
        if (instruction.isTerminator()) break;
        instruction.dropUBImplyingAttrsAndMetadata();
        instruction.moveBefore(last->getIterator());
      }
    }
    llvm::IRBuilder<> builder(last);
    std::vector<Value*> conditions;
    for (const Way& way : llvm::drop_end(ways_)) {
      if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(last)) {
        conditions.push_back(branch->getCondition());
        continue;
      }
      Value* number = llvm::cast<llvm::SwitchInst>(last)->getCondition();
      Value* condition = nullptr;
      for (llvm::ConstantInt* own : way.numbers) {
        Value* is_own = builder.CreateICmpEQ(number, own);
        condition = condition ? builder.CreateOr(condition, is_own) : is_own;
      }
      conditions.push_back(condition);
    }
    for (llvm::PHINode& phi : meeting_->phis()) {
      std::vector<Value*> values;
      for (const Way& way : ways_) values.push_back(brought(phi, way));
      const auto shifted = same_shift(values);
      Value* chosen = values.back();
      for (std::size_t i = conditions.size(); i-- > 0;) {
        if (values[i] != chosen) chosen = builder.CreateSelect(conditions[i], values[i], chosen);
      }
      if (shifted)
        chosen = builder.CreateIntrinsic(phi.getType(), llvm::Intrinsic::fshr, {shifted->high, shifted->low, chosen});
      for (unsigned i = phi.getNumIncomingValues(); i-- > 0;) {
        BasicBlock* from = phi.getIncomingBlock(i);
        const bool is_way =
            from == &block_ || llvm::any_of(ways_, [&](const Way& way) { return way.is_own && way.block == from; });
        if (is_way) phi.removeIncomingValue(i, /*DeletePHIIfEmpty=*/false);
      }
      phi.addIncoming(chosen, &block_);
    }
    llvm::SmallVector<BasicBlock*, 8> left;
    for (BasicBlock* way : llvm::successors(&block_)) {
      if (way != meeting_ && !llvm::is_contained(left, way)) left.push_back(way);
    }
    builder.CreateBr(meeting_);
    last->eraseFromParent();
    for (BasicBlock* way : left) {
      if (!is_dead_end(*way)) {
        way->getTerminator()->eraseFromParent();
        new llvm::UnreachableInst(way->getContext(), way);
      }
      if (llvm::pred_empty(way)) llvm::DeleteDeadBlock(way);
    }
  }

  BasicBlock& block_;
  std::vector<Way> ways_;
  BasicBlock* meeting_ = nullptr;
};

}  // namespace

llvm::PreservedAnalyses ChooseValuesPass::run(llvm::Function& lane, llvm::FunctionAnalysisManager& /*analyses*/) {
  bool changed = false;
  const llvm::SmallVector<BasicBlock*, 16> order(llvm::post_order(&lane));
  for (const llvm::WeakVH& block : llvm::SmallVector<llvm::WeakVH, 16>(order.begin(), order.end())) {
    if (block && Choice(*llvm::cast<BasicBlock>(block)).run()) changed = true;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace metalloid::engines::simd
