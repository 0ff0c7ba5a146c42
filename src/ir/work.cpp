// Memory: every use of a pointer argument, and of what is computed from it, is a load, a store, an atomic operation, or
// something that may be both.
//
// Arithmetic: a block counts as often as the loops around it turn, which ScalarEvolution knows where it is a constant.
#include "ir/work.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "ir/operations.h"
#include "ir/support/pass_managers.h"

namespace metalloid::ir {
namespace {

Work::Use use_of(llvm::Argument& argument) {
  Work::Use use;
  llvm::SmallPtrSet<llvm::Value*, 16> seen;
  llvm::SmallVector<llvm::Value*, 16> pointers = {&argument};
  while (!pointers.empty()) {
    llvm::Value* pointer = pointers.pop_back_val();
    if (!seen.insert(pointer).second) continue;
    for (llvm::User* user : pointer->users()) {
      if (llvm::isa<llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst, llvm::CastInst, llvm::FreezeInst>(user)) {
        pointers.push_back(user);
      } else if (llvm::isa<llvm::LoadInst>(user)) {
        use.reads = true;
      } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
                 store != nullptr && store->getValueOperand() != pointer) {
        use.writes = true;
      } else if (!llvm::isa<llvm::CmpInst>(user)) {
        use = {.reads = true, .writes = true};
      }
    }
  }
  return use;
}

double elements(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr ? 1 : vector->getNumElements();
}

// Nothing for a call of a function whose code is elsewhere.
std::optional<double> flops_of(const llvm::Instruction& instruction) {
  const bool is_floating = instruction.getType()->isFPOrFPVectorTy();
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    return is_floating ? elements(binary->getType()) : 0;
  }
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr) return 0;
  const llvm::Function* callee = call->getCalledFunction();
  if (callee == nullptr) return std::nullopt;
  if (const auto operation = parse_matrix_operation(callee->getName())) {
    // 8 x 8 x 8 fused multiply-adds by 32 lanes.
    const bool is_product = operation->action == MatrixAction::multiply_accumulate ||
                            operation->action == MatrixAction::multiply_accumulate_relaxed;
    return is_product ? 2 * 512 / 32.0 : 0;
  }
  if (!callee->isDeclaration()) return std::nullopt;
  if (!is_floating) return 0;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fmuladd: return 2 * elements(call->getType());
    case llvm::Intrinsic::fabs:
    case llvm::Intrinsic::copysign: return 0;
    case llvm::Intrinsic::not_intrinsic:
      if (const auto lanes = parse_cross_lane(callee->getName())) {
        return lanes->operation < CrossLane::broadcast ? 1 : 0;  // reductions come first
      }
      return elements(call->getType());
    default: return elements(call->getType());
  }
}

// How often a block runs in each run of the function; nothing if nobody knows.
std::optional<double> runs_of(const llvm::BasicBlock& block, const llvm::LoopInfo& loops,
                              llvm::ScalarEvolution& evolution) {
  double runs = 1;
  for (const llvm::Loop* loop = loops.getLoopFor(&block); loop != nullptr; loop = loop->getParentLoop()) {
    const auto* turns = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getBackedgeTakenCount(loop));
    if (turns == nullptr) return std::nullopt;
    // Behind an exit at its head, a loop's body runs once less than the head.
    const bool is_behind_exit =
        loop->isLoopExiting(loop->getHeader()) && loop->getNumBlocks() > 1 && &block != loop->getHeader();
    runs *= turns->getAPInt().roundToDouble() + (is_behind_exit ? 0 : 1);
  }
  return runs;
}

}  // namespace

Work work_of(llvm::Function& kernel) {
  Work work;
  for (llvm::Argument& argument : kernel.args()) {
    work.arguments.push_back(argument.getType()->isPointerTy() ? use_of(argument) : Work::Use{});
  }
  PassManagers managers;
  const auto& loops = managers.functions.getResult<llvm::LoopAnalysis>(kernel);
  auto& evolution = managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(kernel);
  double flops = 0;
  for (const llvm::BasicBlock& block : kernel) {
    double in_block = 0;
    for (const llvm::Instruction& instruction : block) {
      const auto some = flops_of(instruction);
      if (!some) return work;
      in_block += *some;
    }
    if (in_block == 0) continue;
    const auto runs = runs_of(block, loops, evolution);
    if (!runs) return work;
    flops += in_block * *runs;
  }
  work.flops_per_thread = flops;
  return work;
}

}  // namespace metalloid::ir
