#include "engines/cuda/passes/loop_turns.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/LoopRotationUtils.h>

#include "ir/bounds/check_bounds.h"
#include "ir/support/loop_form.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

namespace {

bool is_barrier(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
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

}  // namespace

LoopTurns::LoopTurns(llvm::Loop& loop) : block_(*loop.getHeader()), before_(*loop.getLoopPreheader()) {}

bool LoopTurns::can_be_made(Value* value, Counters& counters, unsigned depth) const {
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!instruction || instruction->getParent() != &block_) return true;
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
    if (!llvm::is_contained(counters, phi)) counters.push_back(phi);
    return true;
  }
  if (depth == 0 || instruction->mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(instruction)) {
    return false;
  }
  return llvm::all_of(instruction->operands(),
                      [&](const llvm::Use& operand) { return can_be_made(operand, counters, depth - 1); });
}

Value* LoopTurns::make(llvm::IRBuilder<>& builder, Value* value, llvm::ValueToValueMapTy& values) const {
  if (const auto known = values.find(value); known != values.end()) return known->second;
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!instruction || instruction->getParent() != &block_ || llvm::isa<llvm::PHINode>(instruction)) return value;
  for (llvm::Use& operand : instruction->operands()) make(builder, operand, values);
  Instruction* copy = instruction->clone();
  for (llvm::Use& operand : copy->operands()) operand = make(builder, operand, values);
  builder.Insert(copy);
  values[value] = copy;
  return copy;
}

void LoopTurns::begin(llvm::ValueToValueMapTy& values) const {
  for (llvm::PHINode& phi : block_.phis()) values[&phi] = phi.getIncomingValueForBlock(&before_);
}

Value* LoopTurns::make_goes_on(llvm::IRBuilder<>& builder, llvm::ValueToValueMapTy& now) const {
  Value* goes_on = make(builder, branch()->getCondition(), now);
  return branch()->getSuccessor(0) == &block_ ? goes_on : builder.CreateNot(goes_on);
}

Instruction* barrier_from(Instruction* place) {
  while (place && !is_barrier(*place)) place = place->getNextNode();
  return place;
}

void for_turns_with_barriers(llvm::Function& function, llvm::function_ref<void(llvm::Loop& loop)> with) {
  ir::PassManagers managers;
  llvm::FunctionAnalysisManager& analyses = managers.functions;
  ir::form_loops(function, analyses);
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  auto& costs = analyses.getResult<llvm::TargetIRAnalysis>(function);
  const llvm::SimplifyQuery simplify(function.getDataLayout());
  llvm::SmallVector<llvm::Loop*, 4> ready;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || !loop->isLoopSimplifyForm() || !is_ready(*loop)) continue;
    llvm::LoopRotation(loop, &loops, &costs, &assumptions, &dominators, &evolution, nullptr, simplify,
                       /*RotationOnly=*/false, /*Threshold=*/16, /*IsUtilMode=*/false);
    if (loop->getNumBlocks() == 1 && loop->getLoopPreheader()) ready.push_back(loop);
  }
  for (llvm::Loop* loop : ready) with(*loop);
}

}  // namespace metalloid::engines::cuda
