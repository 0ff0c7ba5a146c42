#include "engines/cuda/passes/unroll_loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

constexpr unsigned turns_at_once = 4, most_instructions = 64;
// Of a loop that is unrolled as a whole.
constexpr unsigned most_turns = 16;
constexpr const char* count_name = "llvm.loop.unroll.count";

bool has_wish(const llvm::Loop& loop) {
  for (const char* name :
       {count_name, "llvm.loop.unroll.disable", "llvm.loop.unroll.enable", "llvm.loop.unroll.full"}) {
    if (llvm::findOptionMDForLoop(&loop, name)) return true;
  }
  return false;
}

void unroll(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const bool counts = !llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(loop));
    if (!counts || has_wish(*loop) || !is_short(*loop, most_instructions)) continue;
    const unsigned turns = evolution.getSmallConstantTripCount(loop);
    const bool is_known = turns != 0 && turns <= most_turns + 1;  // with that in which it is left
    llvm::addStringMetadataToLoop(loop, count_name, is_known ? turns : turns_at_once);
  }
}

}  // namespace

bool is_short(const llvm::Loop& loop, unsigned most_instructions) {
  unsigned instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call && (call->isConvergent() || !call->getCalledFunction() || !call->getCalledFunction()->isIntrinsic())) {
        return false;
      }
      if (instruction.isAtomic() || ++instructions > most_instructions) return false;
    }
  }
  return loop.isInnermost() && loop.getExitingBlock() != nullptr;
}

void unroll_loops(llvm::Module& module) {
  ir::PassManagers managers;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) unroll(function, managers.functions);
  }
}

}  // namespace metalloid::engines::cuda
