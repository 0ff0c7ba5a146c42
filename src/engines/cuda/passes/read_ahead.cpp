#include "engines/cuda/passes/read_ahead.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/LoopRotationUtils.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "ir/bounds/check_bounds.h"
#include "ir/support/loop_form.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// Registers of 32 bits that values from turn to turn may take altogether, of 255 that a thread has.
constexpr std::uint64_t most_carried = 176;

bool is_barrier(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::nvvm_barrier_cta_sync_all;
}

bool is_ready(const llvm::Loop& loop) {
  bool has_barrier = false;
  for (const BasicBlock* block : loop.blocks()) {
    for (const Instruction& instruction : *block) {
      if (ir::as_bounds_check(const_cast<Instruction&>(instruction))) return false;
      has_barrier |= is_barrier(instruction);
    }
  }
  return has_barrier;
}

// A loop whose test is at its end, all in one block.
class LoopReads {
 public:
  explicit LoopReads(llvm::Loop& loop)
      : loop_(loop), block_(*loop.getHeader()), before_(*loop.getLoopPreheader()), builder_(block_.getContext()) {}

  bool run() {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block_.getTerminator());
    if (!branch || !branch->isConditional()) return false;
    find_loads();
    if (loads_.empty() || !can_be_made(branch->getCondition())) return false;
    // In front of the loop, and behind the barrier for the next turn, if there is one; else the same once more.
    llvm::ValueToValueMapTy first, next, now;
    for (llvm::PHINode& phi : block_.phis()) first[&phi] = phi.getIncomingValueForBlock(&before_);
    builder_.SetInsertPoint(before_.getTerminator());
    llvm::SmallVector<Value*, 16> begins;
    for (llvm::LoadInst* load : loads_) begins.push_back(make(load, first));
    builder_.SetInsertPoint(barrier_->getNextNode());
    Value* goes_on = make(branch->getCondition(), now);
    if (branch->getSuccessor(0) != &block_) goes_on = builder_.CreateNot(goes_on);
    for (llvm::PHINode* counter : counters_) {
      Value* then = make(counter->getIncomingValueForBlock(&block_), now);
      next[counter] = builder_.CreateSelect(goes_on, then, counter);
    }
    for (const auto& [load, begin] : llvm::zip(loads_, begins)) {
      Value* later = make(load, next);
      llvm::PHINode* merged = llvm::PHINode::Create(load->getType(), 2, "ahead", block_.begin());
      merged->addIncoming(begin, &before_);
      merged->addIncoming(later, &block_);
      load->replaceAllUsesWith(merged);
    }
    for (llvm::LoadInst* load : loads_) load->eraseFromParent();
    return true;
  }

 private:
  // Loads of what nobody writes that go to threadgroup memory in front of a barrier.
  void find_loads() {
    std::uint64_t carried = 0;
    const llvm::DataLayout& layout = block_.getModule()->getDataLayout();
    const auto words_of = [&](llvm::Type* type) { return (layout.getTypeStoreSize(type).getFixedValue() + 3) / 4; };
    for (llvm::PHINode& phi : block_.phis()) carried += words_of(phi.getType());
    llvm::SmallVector<llvm::LoadInst*, 16> found;
    for (Instruction& instruction : block_) {
      if (is_barrier(instruction) && !found.empty()) {
        barrier_ = &instruction;
        break;
      }
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load && load->isSimple() && load->hasMetadata(llvm::LLVMContext::MD_invariant_load)) found.push_back(load);
    }
    if (!barrier_) return;
    for (llvm::LoadInst* load : found) {
      counters_of_one_.clear();
      const bool is_used_in_front = llvm::all_of(load->users(), [&](const llvm::User* user) {
        const auto* at = llvm::cast<Instruction>(user);
        return at->getParent() == &block_ && !llvm::isa<llvm::PHINode>(at) && at->comesBefore(barrier_);
      });
      if (!is_used_in_front || loop_.isLoopInvariant(load->getPointerOperand()) ||
          !can_be_made(load->getPointerOperand())) {
        continue;
      }
      carried += words_of(load->getType());
      if (carried > most_carried) {
        loads_.clear();
        return;
      }
      loads_.push_back(load);
      for (llvm::PHINode* counter : counters_of_one_) {
        if (!llvm::is_contained(counters_, counter)) counters_.push_back(counter);
      }
    }
    const bool counters_can_be_made = llvm::all_of(
        counters_, [&](llvm::PHINode* counter) { return can_be_made(counter->getIncomingValueForBlock(&block_)); });
    if (!counters_can_be_made) loads_.clear();
  }

  // By arithmetic with what comes from outside of the loop or from the turn before.
  bool can_be_made(Value* value, unsigned depth = 16) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || instruction->getParent() != &block_) return true;
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
      counters_of_one_.push_back(phi);
      return true;
    }
    if (depth == 0 || instruction->mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(instruction)) {
      return false;
    }
    return llvm::all_of(instruction->operands(),
                        [&](const llvm::Use& operand) { return can_be_made(operand, depth - 1); });
  }

  // Once more at the builder's place, of what `values` says of the turn.
  Value* make(Value* value, llvm::ValueToValueMapTy& values) {
    if (const auto known = values.find(value); known != values.end()) return known->second;
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || instruction->getParent() != &block_ || llvm::isa<llvm::PHINode>(instruction)) return value;
    for (llvm::Use& operand : instruction->operands()) make(operand, values);
    Instruction* copy = instruction->clone();
    for (llvm::Use& operand : copy->operands()) operand = make(operand, values);
    builder_.Insert(copy);
    values[value] = copy;
    return copy;
  }

  llvm::Loop& loop_;
  BasicBlock &block_, &before_;
  llvm::IRBuilder<> builder_;
  llvm::SmallVector<llvm::LoadInst*, 16> loads_;
  llvm::SmallVector<llvm::PHINode*, 4> counters_, counters_of_one_;
  Instruction* barrier_ = nullptr;
};

}  // namespace

void read_ahead(llvm::Function& function) {
  ir::PassManagers managers;
  llvm::FunctionAnalysisManager& analyses = managers.functions;
  ir::form_loops(function, analyses);
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  auto& costs = analyses.getResult<llvm::TargetIRAnalysis>(function);
  const llvm::SimplifyQuery simplify(function.getDataLayout());
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || !loop->isLoopSimplifyForm() || !is_ready(*loop)) continue;
    llvm::LoopRotation(loop, &loops, &costs, &assumptions, &dominators, &evolution, nullptr, simplify,
                       /*RotationOnly=*/false, /*Threshold=*/16, /*IsUtilMode=*/false);
    if (loop->getNumBlocks() == 1 && loop->getLoopPreheader()) LoopReads(*loop).run();
  }
}

}  // namespace metalloid::engines::cuda
