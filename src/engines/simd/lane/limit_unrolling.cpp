#include "engines/simd/lane/limit_unrolling.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "engines/simd/shapes/lane_target.h"

namespace metalloid::engines::simd {
namespace {

using Size = std::uint64_t;

constexpr Size endless = std::numeric_limits<Size>::max() / 4;

// A branch on which lanes part, with what it brings in masks and blocks.
constexpr Size branch_weight = 12;
// Of a body that has others to keep the processor busy while its counter goes on.
constexpr Size long_body = 100;
// Bytes of a lane's variable that take all registers of 512 bits for 32 lanes.
constexpr Size large_variable = 64;
// Four times that: what such a variable's loops do goes on in memory, values or not.
constexpr Size array_of_numbers = 256;
// Of a body around these, whose vectors take longer than its counter.
constexpr Size short_body = 12;
// What LLVM unrolls without a pragma, and around variables (LaneTarget says so). With one it takes so much that the
// limit is no matter here.
constexpr Size most_unrolled = 400, most_unrolled_around_variables = 2000;

Size bytes_of(const llvm::AllocaInst& variable) {
  const auto bytes = variable.getAllocationSize(variable.getDataLayout());
  return bytes ? Size{bytes->getFixedValue()} : endless;
}

// Whether it goes when loops around it are unrolled: accesses of the lane's variables become values, and places and
// counters constants.
bool goes_with_its_loop(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::PHINode, llvm::CastInst, llvm::CmpInst>(instruction)) return true;
  if (llvm::isa<llvm::GetElementPtrInst>(instruction)) {
    return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(&instruction));
  }
  const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
  const auto* variable = address ? llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(address)) : nullptr;
  return variable && bytes_of(*variable) < array_of_numbers;
}

Size size_of_block(const llvm::BasicBlock& block, bool is_end_of_turn) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  const Size own = llvm::count_if(block, [](const auto& instruction) { return !goes_with_its_loop(instruction); });
  return own + (branch && branch->isConditional() && !is_end_of_turn ? branch_weight : 0);
}

bool has_pragma(const llvm::Loop& loop) {
  llvm::MDNode* id = loop.getLoopID();
  return id && (llvm::GetUnrollMetadata(id, "llvm.loop.unroll.full") ||
                llvm::GetUnrollMetadata(id, "llvm.loop.unroll.enable"));
}

// The size of the smallest variable of the lane in which the loop's turn, and not only that of a loop inside of it,
// chooses a place; nothing if there is none.
std::optional<Size> smallest_variable(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  std::optional<Size> smallest;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
      const auto* variable = address ? llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(address)) : nullptr;
      if (!variable) continue;
      const auto goes_along = [&](const llvm::SCEV* part) {
        const auto* numbers = llvm::dyn_cast<llvm::SCEVAddRecExpr>(part);
        return numbers && numbers->getLoop() == &loop;
      };
      const llvm::SCEV* place = evolution.getSCEV(const_cast<llvm::GetElementPtrInst*>(address));
      if (!llvm::SCEVExprContains(place, goes_along)) continue;
      smallest = std::min(smallest.value_or(endless), bytes_of(*variable));
    }
  }
  return smallest;
}

// How often its body runs; 0 if nobody knows. What is asked at its beginning is asked once more.
Size turns_of(llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const unsigned beginnings = evolution.getSmallConstantMaxTripCount(&loop);
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  return beginnings > 0 && !(latch && loop.isLoopExiting(latch)) ? beginnings - 1 : beginnings;
}

class Limit {
 public:
  Limit(llvm::Function& lane, llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution, const UnrollingLimits& limits)
      : lane_(lane), loops_(loops), evolution_(evolution), limits_(limits) {}

  void run() {
    if (loops_.empty()) return;
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) turns_[loop] = turns_of(*loop, evolution_);
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      if (turns_[loop] <= 1) continue;
      const auto variable = smallest_variable(*loop, evolution_);
      if (variable) around_variables_.insert(loop);
      if (!variable) {
        free_.push_back(loop);
      } else if (*variable > large_variable) {
        around_large_.push_back(loop);
        if (*variable >= array_of_numbers) around_arrays_.insert(loop);
      }
    }
    for (const llvm::BasicBlock& block : lane_) {
      const llvm::Loop* loop = loops_.getLoopFor(&block);
      own_[loop] += size_of_block(block, loop && turns_[loop] > 1 && loop->isLoopExiting(&block));
    }
    Size size = size_of_lane();
    while (size > limits_.any && leave_one(size)) {
    }
    free_.append(around_large_);
    while (size > limits_.with_places && leave_one(size)) {
    }
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      if (left_.contains(loop)) leave(*loop);
    }
  }

 private:
  Size size_of(const llvm::Loop& loop) {
    const Size turns = turns_.lookup(&loop);
    Size size = 0;
    for (const llvm::Loop* inner : loop) size += size_of(*inner);
    size += own_.lookup(&loop);
    bodies_[&loop] = size;
    const Size limit = has_pragma(loop)                    ? endless
                       : around_variables_.contains(&loop) ? most_unrolled_around_variables
                                                           : most_unrolled;
    const bool stays = turns <= 1 || size > limit / turns || left_.contains(&loop);
    stay_[&loop] = stays;
    return stays ? size : std::min(endless, turns * size);
  }

  Size size_of_lane() {
    Size size = own_.lookup(nullptr);
    for (const llvm::Loop* loop : loops_) size += size_of(*loop);
    return size;
  }

  // What stays with a loop: itself, and those around it that are too long to be unrolled, as if it were not shorter
  // then.
  llvm::SmallVector<llvm::Loop*, 4> with_those_around(llvm::Loop& loop) const {
    llvm::SmallVector<llvm::Loop*, 4> all = {&loop};
    for (llvm::Loop* around = loop.getParentLoop(); around; around = around->getParentLoop()) {
      if (turns_.lookup(around) > 1 && stay_.lookup(around) && !left_.contains(around)) all.push_back(around);
    }
    return all;
  }

  // The one that saves most; false if none does.
  bool leave_one(Size& size) {
    llvm::SmallVector<llvm::Loop*, 4> best;
    const llvm::DenseMap<const llvm::Loop*, Size> bodies = bodies_;
    for (llvm::Loop* loop : free_) {
      const Size least = around_arrays_.contains(loop) ? short_body : long_body;
      if (bodies.lookup(loop) < least || left_.contains(loop)) continue;
      size_of_lane();  // says which loops stay
      const llvm::SmallVector<llvm::Loop*, 4> all = with_those_around(*loop);
      left_.insert_range(all);
      const Size without = size_of_lane();
      for (llvm::Loop* each : all) left_.erase(each);
      if (without >= size) continue;
      size = without;
      best = all;
    }
    left_.insert_range(best);
    size = size_of_lane();
    return !best.empty();
  }

  static void leave(llvm::Loop& loop) {
    llvm::LLVMContext& context = loop.getHeader()->getContext();
    auto* disable = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
    loop.setLoopID(llvm::makePostTransformationMetadata(context, loop.getLoopID(), {"llvm.loop.unroll."}, {disable}));
  }

  llvm::Function& lane_;
  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  const UnrollingLimits& limits_;
  llvm::DenseMap<const llvm::Loop*, Size> turns_, own_, bodies_;  // bodies: with inner loops as they will be
  llvm::SmallVector<llvm::Loop*, 16> free_, around_large_;
  llvm::DenseMap<const llvm::Loop*, bool> stay_;
  llvm::SmallPtrSet<const llvm::Loop*, 8> around_variables_, around_arrays_;
  llvm::SmallPtrSet<llvm::Loop*, 8> left_;
};

}  // namespace

llvm::PreservedAnalyses LimitUnrollingPass::run(llvm::Function& lane, llvm::FunctionAnalysisManager& analyses) const {
  Limit(lane, analyses.getResult<llvm::LoopAnalysis>(lane), analyses.getResult<llvm::ScalarEvolutionAnalysis>(lane),
        limits_)
      .run();
  return llvm::PreservedAnalyses::all();  // metadata alone
}

void limit_unrolling(llvm::Function& lane, const UnrollingLimits& limits) {
  LaneManagers managers;
  LimitUnrollingPass(limits).run(lane, managers.functions);
}

}  // namespace metalloid::engines::simd
