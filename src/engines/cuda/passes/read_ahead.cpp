#include "engines/cuda/passes/read_ahead.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "engines/cuda/passes/loop_turns.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// Registers of 32 bits that values from turn to turn may take altogether, of 255 that a thread has.
constexpr std::uint64_t most_carried = 176;

class LoopReads {
 public:
  explicit LoopReads(llvm::Loop& loop)
      : loop_(loop), turns_(loop), block_(turns_.block()), builder_(block_.getContext()) {}

  bool run() {
    llvm::BranchInst* branch = turns_.branch();
    if (!branch || !branch->isConditional()) return false;
    find_loads();
    LoopTurns::Counters of_branch;
    if (loads_.empty() || !turns_.can_be_made(branch->getCondition(), of_branch)) return false;
    // In front of the loop, and behind the barrier for the next turn, if there is one; else the same once more.
    llvm::ValueToValueMapTy first, next, now;
    turns_.begin(first);
    builder_.SetInsertPoint(turns_.before().getTerminator());
    llvm::SmallVector<Value*, 16> begins;
    for (llvm::LoadInst* load : loads_) begins.push_back(turns_.make(builder_, load, first));
    builder_.SetInsertPoint(barrier_->getNextNode());
    Value* goes_on = turns_.make_goes_on(builder_, now);
    for (llvm::PHINode* counter : counters_) {
      Value* then = turns_.make(builder_, counter->getIncomingValueForBlock(&block_), now);
      next[counter] = builder_.CreateSelect(goes_on, then, counter);
    }
    for (const auto& [load, begin] : llvm::zip(loads_, begins)) {
      Value* later = turns_.make(builder_, load, next);
      llvm::PHINode* merged = llvm::PHINode::Create(load->getType(), 2, "ahead", block_.begin());
      merged->addIncoming(begin, &turns_.before());
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
    barrier_ = barrier_from(&block_.front());
    const llvm::DataLayout& layout = block_.getModule()->getDataLayout();
    const auto words_of = [&](llvm::Type* type) { return (layout.getTypeStoreSize(type).getFixedValue() + 3) / 4; };
    for (llvm::PHINode& phi : block_.phis()) carried += words_of(phi.getType());
    llvm::SmallVector<llvm::LoadInst*, 16> found;
    for (Instruction& instruction : block_) {
      if (&instruction == barrier_ && !found.empty()) break;
      if (&instruction == barrier_) barrier_ = barrier_from(barrier_->getNextNode());
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load && load->isSimple() && load->hasMetadata(llvm::LLVMContext::MD_invariant_load)) found.push_back(load);
    }
    if (!barrier_) return;
    for (llvm::LoadInst* load : found) {
      LoopTurns::Counters counters_of_one;
      const bool is_used_in_front = llvm::all_of(load->users(), [&](const llvm::User* user) {
        const auto* at = llvm::cast<Instruction>(user);
        return at->getParent() == &block_ && !llvm::isa<llvm::PHINode>(at) && at->comesBefore(barrier_);
      });
      if (!is_used_in_front || loop_.isLoopInvariant(load->getPointerOperand()) ||
          !turns_.can_be_made(load->getPointerOperand(), counters_of_one)) {
        continue;
      }
      carried += words_of(load->getType());
      if (carried > most_carried) {
        loads_.clear();
        return;
      }
      loads_.push_back(load);
      for (llvm::PHINode* counter : counters_of_one) {
        if (!llvm::is_contained(counters_, counter)) counters_.push_back(counter);
      }
    }
    const bool counters_can_be_made = llvm::all_of(counters_, [&](llvm::PHINode* counter) {
      LoopTurns::Counters before;
      return turns_.can_be_made(counter->getIncomingValueForBlock(&block_), before);
    });
    if (!counters_can_be_made) loads_.clear();
  }

  llvm::Loop& loop_;
  const LoopTurns turns_;
  BasicBlock& block_;
  llvm::IRBuilder<> builder_;
  llvm::SmallVector<llvm::LoadInst*, 16> loads_;
  LoopTurns::Counters counters_;
  Instruction* barrier_ = nullptr;
};

}  // namespace

void read_ahead(llvm::Function& function) {
  for_turns_with_barriers(function, [](llvm::Loop& loop) { LoopReads(loop).run(); });
}

}  // namespace metalloid::engines::cuda
