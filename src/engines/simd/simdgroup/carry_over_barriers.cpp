#include "engines/simd/simdgroup/carry_over_barriers.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "engines/simd/run/simdgroup_abi.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

bool is_stop(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == llvm::StringRef(barrier_name);
}

// Where a use wants its value.
BasicBlock* block_of(const llvm::Use& use) {
  auto* user = llvm::cast<Instruction>(use.getUser());
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
  return phi ? phi->getIncomingBlock(use) : user->getParent();
}

class Carrying {
 public:
  explicit Carrying(llvm::Function& simdgroup) : simdgroup_(simdgroup) {}

  void run() {
    llvm::SmallVector<Instruction*, 8> stops;
    for (Instruction& instruction : llvm::instructions(simdgroup_)) {
      if (is_stop(instruction)) stops.push_back(&instruction);
    }
    for (Instruction* stop : stops) {
      if (!stop->getNextNode()->isTerminator()) llvm::SplitBlock(stop->getParent(), stop->getNextNode());
    }
    const llvm::DominatorTree dominators(simdgroup_);
    const llvm::LoopInfo loops(dominators);
    llvm::SmallVector<std::pair<llvm::PHINode*, llvm::Loop*>, 16> carried;
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      const BasicBlock* latch = loop->getLoopLatch();
      const bool stops_in_each_turn =
          latch && loop->getLoopPredecessor() && llvm::any_of(stops, [&](Instruction* stop) {
            return loop->contains(stop) && dominators.dominates(stop->getParent(), latch);
          });
      if (!stops_in_each_turn) continue;
      for (llvm::PHINode& phi : loop->getHeader()->phis()) {
        if (phi.getType()->isVectorTy() && phi.getNumIncomingValues() == 2) carried.push_back({&phi, loop});
      }
    }
    for (const auto& [phi, loop] : carried) carry(*phi, *loop);
  }

 private:
  void carry(llvm::PHINode& phi, const llvm::Loop& loop) {
    BasicBlock *before = loop.getLoopPredecessor(), *latch = loop.getLoopLatch();
    auto* next = llvm::dyn_cast<Instruction>(phi.getIncomingValueForBlock(latch));
    if (!next || !loop.contains(next) || llvm::isa<llvm::PHINode>(next) || next->isTerminator()) return;
    BasicBlock* last = next->getParent();
    const auto behind = reached_in_turn(*last, *loop.getHeader());
    if (behind.contains(last)) return;
    for (const llvm::Use& use : phi.uses()) {
      if (use.getUser() == &phi || behind.contains(block_of(use))) return;
    }
    llvm::IRBuilder<> builder(&simdgroup_.getEntryBlock(), simdgroup_.getEntryBlock().begin());
    llvm::AllocaInst* place = builder.CreateAlloca(phi.getType());
    builder.SetInsertPoint(before->getTerminator());
    builder.CreateStore(phi.getIncomingValueForBlock(before), place);
    Instruction* end = last->getTerminator();
    if (Instruction* stop = end->getPrevNode(); stop && is_stop(*stop)) end = stop;
    read_uses(phi, *place, nullptr);
    read_uses(*next, *place, last);
    builder.SetInsertPoint(end);
    builder.CreateStore(next, place);
    phi.eraseFromParent();
  }

  // Blocks behind one, in the same turn or behind the loop.
  static llvm::SmallPtrSet<BasicBlock*, 32> reached_in_turn(BasicBlock& from, BasicBlock& header) {
    llvm::SmallPtrSet<BasicBlock*, 32> reached;
    llvm::SmallVector<BasicBlock*, 16> waiting = {&from};
    while (!waiting.empty()) {
      for (BasicBlock* successor : llvm::successors(waiting.pop_back_val())) {
        if (successor != &header && reached.insert(successor).second) waiting.push_back(successor);
      }
    }
    return reached;
  }

  // Uses in all blocks but the value's own. A block reads it once.
  static void read_uses(Instruction& value, llvm::AllocaInst& place, const BasicBlock* own) {
    llvm::DenseMap<BasicBlock*, llvm::LoadInst*> known;
    for (llvm::Use& use : llvm::make_early_inc_range(value.uses())) {
      BasicBlock* block = block_of(use);
      if (block == own) continue;
      llvm::LoadInst*& load = known[block];
      if (!load) {
        llvm::IRBuilder<> builder(block, block->getFirstNonPHIOrDbgOrAlloca());
        load = builder.CreateLoad(value.getType(), &place);
      }
      use.set(load);
    }
  }

  llvm::Function& simdgroup_;
};

}  // namespace

void carry_over_barriers(llvm::Function& simdgroup) { Carrying(simdgroup).run(); }

}  // namespace metalloid::engines::simd
