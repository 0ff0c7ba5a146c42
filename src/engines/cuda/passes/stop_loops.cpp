#include "engines/cuda/passes/stop_loops.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include <algorithm>
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

// A turn of the shortest loop takes a nanosecond or more: a minute or more.
constexpr unsigned most_turns_log2 = 36;

// By one way out: others, as those of checks, make it end earlier.
bool may_be_endless(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  return llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getSymbolicMaxBackedgeTakenCount(&loop));
}

// How many turns it has at most, of which nobody may know more than the counter's type.
unsigned turns_log2(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const auto* count = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getConstantMaxBackedgeTakenCount(&loop));
  return count ? count->getAPInt().getActiveBits() : 64;
}

enum class Look {
  by_turns,
  by_time,  // where turns are long, because of loops in them
};

struct EndlessLoop {
  llvm::BasicBlock* header;
  std::vector<llvm::BasicBlock*> latches;
  Look look;
};

// What the loop's turns have: at first, and of the turn before.
llvm::PHINode* carry(const EndlessLoop& loop, Value* first, llvm::function_ref<Value*(llvm::PHINode&)> next,
                     llvm::IRBuilder<>& builder) {
  builder.SetInsertPoint(&loop.header->front());
  llvm::PHINode* carried = builder.CreatePHI(builder.getInt32Ty(), 2);
  for (llvm::BasicBlock* before : llvm::predecessors(loop.header)) {
    const bool is_latch = llvm::is_contained(loop.latches, before);
    if (!is_latch) {
      carried->addIncoming(first, before);
      continue;
    }
    if (carried->getBasicBlockIndex(before) >= 0) {
      carried->addIncoming(carried->getIncomingValueForBlock(before), before);
      continue;
    }
    builder.SetInsertPoint(before->getTerminator());
    carried->addIncoming(next(*carried), before);
  }
  // In front of what the turn does: the code generator would move what comes behind a look at the end past it, and keep
  // what that needs.
  builder.SetInsertPoint(&*loop.header->getFirstNonPHIIt());
  return carried;
}

Value* enough_turns(const EndlessLoop& loop, llvm::IRBuilder<>& builder) {
  llvm::PHINode* turns = carry(
      loop, builder.getInt32(0), [&](llvm::PHINode& before) { return builder.CreateAdd(&before, builder.getInt32(1)); },
      builder);
  turns->setName("turns");
  return builder.CreateICmpEQ(builder.CreateAnd(turns, builder.getInt32(turns_between - 1)),
                              builder.getInt32(turns_between - 1));
}

// Of 2^32 cycles, two seconds or so.
Value* another_period(const EndlessLoop& loop, llvm::IRBuilder<>& builder) {
  Value* now = nullptr;
  llvm::PHINode* before = carry(
      loop, builder.getInt32(0),
      [&](llvm::PHINode& carried) {
        if (!now) {
          const llvm::IRBuilder<>::InsertPointGuard guard(builder);
          builder.SetInsertPoint(&*loop.header->getFirstNonPHIIt());
          Value* clock = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_clock64, {});
          now = builder.CreateTrunc(builder.CreateLShr(clock, 32), carried.getType(), "period");
        }
        return now;
      },
      builder);
  builder.SetInsertPoint(llvm::cast<llvm::Instruction>(now)->getNextNode());
  return builder.CreateICmpNE(now, before);
}

void poll(const EndlessLoop& loop, const Entry& entry) {
  llvm::IRBuilder<> builder(&loop.header->front());
  Value* is_due = loop.look == Look::by_turns ? enough_turns(loop, builder) : another_period(loop, builder);
  llvm::Instruction* first = &*builder.GetInsertPoint();
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
  llvm::DenseMap<const llvm::Loop*, unsigned> without_look;  // turns, log2
  const auto outer_first = loops.getLoopsInPreorder();
  for (llvm::Loop* loop : llvm::reverse(outer_first)) {
    unsigned inner = 0;
    for (const llvm::Loop* each : *loop) inner = std::max(inner, without_look.lookup(each));
    const bool is_endless = may_be_endless(*loop, evolution);
    const unsigned turns = is_endless ? 64 : turns_log2(*loop, evolution);
    const bool looks = is_endless || turns + inner > most_turns_log2;
    without_look[loop] = looks ? inner : turns + inner;
    if (!looks) continue;
    llvm::SmallVector<llvm::BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    endless.push_back({loop->getHeader(),
                       {latches.begin(), latches.end()},
                       is_endless || loop->isInnermost() ? Look::by_turns : Look::by_time});
  }
  // Outer ones first: what a look divides may be a block that leads back to the beginning of a loop around.
  for (const EndlessLoop& loop : llvm::reverse(endless)) poll(loop, entry);
  return !endless.empty();
}

}  // namespace metalloid::engines::cuda
