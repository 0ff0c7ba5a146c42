#include "engines/cuda/passes/stop_loops.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cuda/kernel_abi.h"
#include "engines/cuda/passes/unroll_loops.h"
#include "ir/support/loop_form.h"
#include "ir/support/pass_managers.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

// A read of the host's memory takes a microsecond or two.
constexpr std::uint32_t turns_between = 16384;

constexpr unsigned turns_at_once = 4, most_instructions = 24;

// By one way out: others, as those of checks, make it end earlier.
bool may_be_endless(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  return llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getSymbolicMaxBackedgeTakenCount(&loop));
}

struct EndlessLoop {
  llvm::BasicBlock* header;
  std::vector<llvm::BasicBlock*> latches;
};

void poll(const EndlessLoop& loop, const Entry& entry) {
  llvm::IRBuilder<> builder(&loop.header->front());
  llvm::PHINode* turns = builder.CreatePHI(builder.getInt32Ty(), 2, "turns");
  for (llvm::BasicBlock* before : llvm::predecessors(loop.header)) {
    const bool is_latch = llvm::is_contained(loop.latches, before);
    if (!is_latch) {
      turns->addIncoming(builder.getInt32(0), before);
      continue;
    }
    if (turns->getBasicBlockIndex(before) >= 0) {
      turns->addIncoming(turns->getIncomingValueForBlock(before), before);
      continue;
    }
    builder.SetInsertPoint(before->getTerminator());
    turns->addIncoming(builder.CreateAdd(turns, builder.getInt32(1)), before);
  }
  // In front of what the turn does: the code generator would move what comes behind a look at the end past it, and keep
  // what that needs.
  llvm::Instruction* first = &*loop.header->getFirstNonPHIIt();
  builder.SetInsertPoint(first);
  Value* is_due = builder.CreateICmpEQ(builder.CreateAnd(turns, builder.getInt32(turns_between - 1)),
                                       builder.getInt32(turns_between - 1));
  llvm::MDNode* unlikely = llvm::MDBuilder(builder.getContext()).createUnlikelyBranchWeights();
  end_if_stopped(*llvm::SplitBlockAndInsertIfThen(is_due, first->getIterator(), /*Unreachable=*/false, unlikely),
                 entry);
}

// Short loops do several turns from look to look at the counter.
void unroll(llvm::Function& function) {
  ir::PassManagers managers;
  ir::form_loops(function, managers.functions);
  auto& loops = managers.functions.getResult<llvm::LoopAnalysis>(function);
  auto& evolution = managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto& dominators = managers.functions.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& assumptions = managers.functions.getResult<llvm::AssumptionAnalysis>(function);
  auto& costs = managers.functions.getResult<llvm::TargetIRAnalysis>(function);
  auto& remarks = managers.functions.getResult<llvm::OptimizationRemarkEmitterAnalysis>(function);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const bool stays = llvm::findOptionMDForLoop(loop, "llvm.loop.unroll.disable") != nullptr;
    if (stays || !may_be_endless(*loop, evolution) || !is_short(*loop, most_instructions)) continue;
    llvm::UnrollLoopOptions options{};
    options.Count = turns_at_once;
    llvm::UnrollLoop(loop, options, &loops, &evolution, &dominators, &assumptions, &costs, &remarks,
                     /*PreserveLCSSA=*/true);
  }
}

}  // namespace

void end_if_stopped(llvm::Instruction& before, const Entry& entry) {
  llvm::IRBuilder<> builder(&before);
  Value* host = load_from_head(builder, entry, offsetof(LaunchHead, host), builder.getPtrTy(device_space));
  Value* stop = builder.CreateLoad(
      builder.getInt32Ty(), builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), host, offsetof(HostWords, stop)),
      /*isVolatile=*/true);
  llvm::MDNode* unlikely = llvm::MDBuilder(builder.getContext()).createUnlikelyBranchWeights();
  llvm::Instruction* leave = llvm::SplitBlockAndInsertIfThen(builder.CreateICmpNE(stop, builder.getInt32(0)),
                                                             before.getIterator(), /*Unreachable=*/true, unlikely);
  builder.SetInsertPoint(leave);
  builder.CreateIntrinsic(llvm::Intrinsic::nvvm_exit, {});
}

bool stop_loops(const Entry& entry) {
  unroll(*entry.function);
  ir::PassManagers managers;
  auto& loops = managers.functions.getResult<llvm::LoopAnalysis>(*entry.function);
  auto& evolution = managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(*entry.function);
  std::vector<EndlessLoop> endless;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!may_be_endless(*loop, evolution)) continue;
    llvm::SmallVector<llvm::BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    endless.push_back({loop->getHeader(), {latches.begin(), latches.end()}});
  }
  for (const EndlessLoop& loop : endless) poll(loop, entry);
  return !endless.empty();
}

}  // namespace metalloid::engines::cuda
