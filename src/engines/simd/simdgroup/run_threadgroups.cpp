#include "engines/simd/simdgroup/run_threadgroups.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "engines/cpu_shared/kernel_abi.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Value;

constexpr std::int64_t position_offset = offsetof(cpu::ThreadgroupState, threadgroup_position_in_grid);
constexpr std::int64_t word = sizeof(std::uint32_t);
constexpr unsigned most_instructions = 2000;  // of all forms

// Where the bytes of a load begin, seen from the position along x.
struct PositionLoad {
  llvm::LoadInst* load;
  std::int64_t words_in_front;
};

// All loads that have the position along x in them; false if one is of another form than words.
bool find_loads(llvm::Function& entry, llvm::SmallVectorImpl<PositionLoad>& loads) {
  const llvm::DataLayout& layout = entry.getParent()->getDataLayout();
  for (BasicBlock& block : entry) {
    for (llvm::Instruction& instruction : block) {
      // What functions that stay calls compute of the position alone must not become the same for all.
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        if (llvm::is_contained(call->args(), entry.getArg(0)) && call->onlyReadsMemory()) return false;
      }
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      std::int64_t begin = 0;
      if (!load ||
          llvm::GetPointerBaseWithConstantOffset(load->getPointerOperand(), begin, layout) != entry.getArg(0)) {
        continue;
      }
      const auto bytes = static_cast<std::int64_t>(layout.getTypeStoreSize(load->getType()).getFixedValue());
      const std::int64_t in_front = position_offset - begin;
      if (in_front <= -word || in_front >= bytes) continue;
      if (!load->getType()->getScalarType()->isIntegerTy(32) || in_front < 0 || in_front % word != 0) return false;
      loads.push_back({load, in_front / word});
    }
  }
  return true;
}

// Beside that over simdgroups: threadgroups take longer then than their beginnings, and need their registers.
bool has_own_loops(llvm::Function& entry) {
  const llvm::DominatorTree dominators(entry);
  const llvm::LoopInfo loops(dominators);
  return llvm::any_of(loops, [](const llvm::Loop* loop) { return !loop->isInnermost(); });
}

void take_position(const PositionLoad& read, Value& x) {
  llvm::LoadInst& load = *read.load;
  if (!load.getType()->isVectorTy()) {
    load.replaceAllUsesWith(&x);
    load.eraseFromParent();
    return;
  }
  load.setMetadata(llvm::LLVMContext::MD_invariant_load, nullptr);
  llvm::IRBuilder<> builder(load.getNextNode());
  auto* with = llvm::cast<llvm::Instruction>(
      builder.CreateInsertElement(&load, &x, static_cast<std::uint64_t>(read.words_in_front)));
  load.replaceUsesWithIf(with, [&](const llvm::Use& use) { return use.getUser() != with; });
}

void hoist(llvm::Function& entry, llvm::TargetMachine* machine) {
  ir::PassManagers managers(machine);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.run(entry, managers.functions);
}

}  // namespace

bool run_threadgroups(llvm::Function& entry, llvm::TargetMachine* machine) {
  llvm::SmallVector<PositionLoad, 8> loads;
  if (entry.getInstructionCount() > most_instructions || has_own_loops(entry) || !find_loads(entry, loads))
    return false;
  Value* state = entry.getArg(0);
  entry.removeParamAttr(0, llvm::Attribute::ReadOnly);
  entry.setMemoryEffects(llvm::MemoryEffects::unknown());
  llvm::SmallVector<llvm::ReturnInst*, 4> ends;
  for (BasicBlock& block : entry) {
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) ends.push_back(end);
  }

  BasicBlock& start = entry.getEntryBlock();
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(start)) {
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction); variable && variable->isStaticAlloca()) {
      variable->moveBefore(start, start.begin());
    }
  }
  BasicBlock* loop = start.splitBasicBlock(start.getFirstNonPHIOrDbgOrAlloca(), "threadgroup");
  llvm::LLVMContext& context = entry.getContext();
  BasicBlock *end = BasicBlock::Create(context, "end.of.threadgroup", &entry),
             *more = BasicBlock::Create(context, "next.threadgroup", &entry),
             *done = BasicBlock::Create(context, "done", &entry);
  llvm::IRBuilder<> builder(start.getTerminator());
  const auto place = [&](std::size_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), state, offset);
  };
  Value* position = place(position_offset);
  Value* first = builder.CreateLoad(builder.getInt32Ty(), position);
  Value* behind = builder.CreateLoad(builder.getInt32Ty(), place(offsetof(cpu::ThreadgroupState, threadgroups_behind)));
  Value* last = builder.CreateAdd(first, behind);

  builder.SetInsertPoint(loop, loop->begin());
  llvm::PHINode* x = builder.CreatePHI(builder.getInt32Ty(), 2);
  for (const PositionLoad& load : loads) take_position(load, *x);
  for (llvm::ReturnInst* old : ends) {
    llvm::BranchInst::Create(end, old->getIterator())->setDebugLoc(old->getDebugLoc());
    old->eraseFromParent();
  }
  builder.SetInsertPoint(end);
  builder.CreateCondBr(builder.CreateICmpEQ(x, last), done, more);
  builder.SetInsertPoint(more);
  Value* next = builder.CreateAdd(x, builder.getInt32(1));
  builder.CreateStore(next, position, /*isVolatile=*/true);  // for reports, and functions that stay calls
  builder.CreateBr(loop);
  x->addIncoming(first, &start);
  x->addIncoming(next, more);
  builder.SetInsertPoint(done);
  builder.CreateRetVoid();
  hoist(entry, machine);
  return true;
}

}  // namespace metalloid::engines::simd
