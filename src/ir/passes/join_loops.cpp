#include "ir/passes/join_loops.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "ir/operations.h"
#include "ir/passes/inline_choice.h"
#include "ir/passes/normalise_attributes.h"

namespace metalloid::ir {
namespace {

class Joiner {
 public:
  Joiner(llvm::Function& function, const FunctionSet& meeting)
      : function_(function), meeting_(meeting), dominators_(function), loops_(dominators_) {}

  void run() {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function_))) {
      if (stop_at(instruction) != Stop::turn_end) continue;
      const llvm::Loop* loop = loops_.getLoopFor(instruction.getParent());
      if (!loop || !meets(*loop)) instruction.eraseFromParent();
    }
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      if (needs_join(*loop)) join(*loop);
    }
  }

 private:
  enum class Stop { none, threadgroup_barrier, turn_end, meeting, call };
  Stop stop_at(const llvm::Instruction& instruction) const {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee) return Stop::none;
    if (callee->getName() == llvm::StringRef(threadgroup_barrier_name)) return Stop::threadgroup_barrier;
    if (callee->getName() == llvm::StringRef(turn_end_name)) return Stop::turn_end;
    if (is_meeting(callee->getName())) return Stop::meeting;
    return meeting_.contains(callee) ? Stop::call : Stop::none;
  }

  // Whether lanes of a simdgroup meet in the loop.
  bool meets(const llvm::Loop& loop) const {
    return llvm::any_of(loop.blocks(), [&](const llvm::BasicBlock* block) {
      return llvm::any_of(*block, [&](const llvm::Instruction& instruction) {
        const Stop stop = stop_at(instruction);
        return stop == Stop::meeting || stop == Stop::call;
      });
    });
  }

  bool needs_join(const llvm::Loop& loop) const {
    if (!meets(loop)) return false;
    // Up through the blocks on every way round, to the last stop there.
    llvm::SmallVector<llvm::BasicBlock*, 4> latches;
    loop.getLoopLatches(latches);
    llvm::BasicBlock* block = latches.front();
    for (llvm::BasicBlock* latch : latches) block = dominators_.findNearestCommonDominator(block, latch);
    while (true) {
      for (const llvm::Instruction& instruction : llvm::reverse(*block)) {
        const Stop stop = stop_at(instruction);
        if (stop == Stop::none) continue;
        const bool all_stop = stop != Stop::call && loops_.getLoopFor(block) == &loop;
        return !all_stop || stops_behind(*block, loop);
      }
      if (block == loop.getHeader()) return true;
      block = dominators_.getNode(block)->getIDom()->getBlock();
    }
  }

  // Whether lanes stop anywhere on their way from a block to the next turn.
  bool stops_behind(const llvm::BasicBlock& start, const llvm::Loop& loop) const {
    llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
    llvm::SmallVector<const llvm::BasicBlock*, 16> open;
    const auto add_successors = [&](const llvm::BasicBlock* block) {
      for (const llvm::BasicBlock* next : llvm::successors(block)) {
        if (loop.contains(next) && next != loop.getHeader() && seen.insert(next).second) open.push_back(next);
      }
    };
    add_successors(&start);
    while (!open.empty()) {
      const llvm::BasicBlock* block = open.pop_back_val();
      for (const llvm::Instruction& instruction : *block) {
        if (stop_at(instruction) != Stop::none) return true;
      }
      add_successors(block);
    }
    return false;
  }

  void join(llvm::Loop& loop) {
    llvm::SmallVector<llvm::BasicBlock*, 4> latches;
    loop.getLoopLatches(latches);
    llvm::BasicBlock* block = latches.front();
    if (latches.size() > 1 || !block->getSingleSuccessor()) {
      block = llvm::SplitBlockPredecessors(loop.getHeader(), latches, ".join", &dominators_, &loops_);
    }
    llvm::IRBuilder<> builder(block->getTerminator());
    builder.CreateCall(declare_operation(*block->getModule(), turn_end_name));
  }

  llvm::Function& function_;
  const FunctionSet& meeting_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
};

}  // namespace

void join_loops(llvm::Module& module) {
  const FunctionSet meeting = functions_that_lead_to(module, [](llvm::StringRef name) { return is_meeting(name); });
  for (llvm::Function& function : module) {
    if (meeting.contains(&function) && !function.isDeclaration()) Joiner(function, meeting).run();
  }
}

}  // namespace metalloid::ir
