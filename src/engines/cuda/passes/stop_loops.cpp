#include "engines/cuda/passes/stop_loops.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cuda/kernel_abi.h"
#include "ir/support/pass_managers.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

// A read of the host's memory takes a microsecond or two.
constexpr std::uint32_t turns_between = 16384;

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
  for (llvm::BasicBlock* latch : loop.latches) {
    llvm::Instruction* end = latch->getTerminator();
    builder.SetInsertPoint(end);
    Value* is_due = builder.CreateICmpEQ(builder.CreateAnd(turns, builder.getInt32(turns_between - 1)),
                                         builder.getInt32(turns_between - 1));
    llvm::MDNode* unlikely = llvm::MDBuilder(builder.getContext()).createUnlikelyBranchWeights();
    llvm::Instruction* look = llvm::SplitBlockAndInsertIfThen(is_due, end, /*Unreachable=*/false, unlikely);
    end_if_stopped(*look, entry);
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
  ir::PassManagers managers;
  auto& loops = managers.functions.getResult<llvm::LoopAnalysis>(*entry.function);
  auto& evolution = managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(*entry.function);
  std::vector<EndlessLoop> endless;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    // By one way out: others, as those of checks, make it end earlier.
    if (!llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getSymbolicMaxBackedgeTakenCount(loop))) continue;
    llvm::SmallVector<llvm::BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    endless.push_back({loop->getHeader(), {latches.begin(), latches.end()}});
  }
  for (const EndlessLoop& loop : endless) poll(loop, entry);
  return !endless.empty();
}

}  // namespace metalloid::engines::cuda
