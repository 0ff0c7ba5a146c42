#include "engines/reference/drop_idle_barriers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <string_view>

#include "ir/operations.h"
#include "ir/passes/infer_address_spaces.h"

namespace metalloid::engines::reference {
namespace {

using llvm::Instruction;

enum class Effect { none, write, meeting, simdgroup_barrier };

Effect effect_of(const Instruction& instruction) {
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    const llvm::Function* callee = call->getCalledFunction();
    const std::string_view name = callee ? std::string_view(callee->getName()) : std::string_view();
    if (name == ir::simdgroup_barrier_name) return Effect::simdgroup_barrier;
    if (name == ir::threadgroup_barrier_name || ir::parse_cross_lane(name) || ir::parse_matrix_operation(name)) {
      return Effect::meeting;
    }
    if (auto* transfer = llvm::dyn_cast<llvm::MemIntrinsic>(call)) {
      return ir::is_thread_memory(*transfer->getDest()) ? Effect::none : Effect::write;
    }
    if (call->isLifetimeStartOrEnd() || llvm::isa<llvm::AssumeInst>(call)) return Effect::none;
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    if (!store->isVolatile() && !store->isAtomic() && ir::is_thread_memory(*store->getPointerOperand()))
      return Effect::none;
  }
  return instruction.mayWriteToMemory() ? Effect::write : Effect::none;
}

void run_on(llvm::BasicBlock& block) {
  Instruction* barrier = nullptr;  // the last meeting, if it is a simdgroup barrier that nothing was written before
  bool writes = true;              // since the last meeting; what came before the block may have written
  auto meet = [&](Instruction& meeting, bool is_barrier) {
    if (barrier && !writes) barrier->eraseFromParent();
    barrier = is_barrier && !writes ? &meeting : nullptr;
    writes = false;
  };
  for (Instruction& instruction : llvm::make_early_inc_range(block)) {
    const Effect effect = effect_of(instruction);
    if (effect == Effect::write) writes = true;
    if (effect == Effect::meeting || effect == Effect::simdgroup_barrier) {
      meet(instruction, effect == Effect::simdgroup_barrier);
    }
  }
}

}  // namespace

void drop_idle_barriers(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) run_on(block);
  }
}

}  // namespace metalloid::engines::reference
