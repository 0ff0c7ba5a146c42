#include "engines/simd/simdgroup/split_at_barriers.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <cstddef>
#include <string_view>

#include "engines/cpu_shared/passes/split_at_stops.h"
#include "engines/simd/run/simdgroup_abi.h"

namespace metalloid::engines::simd {

namespace {

using llvm::BasicBlock;

bool is_stop(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee) return false;
  const std::string_view name = callee->getName();
  return name == barrier_name || name == yield_name;
}

// Blocks that control comes to from these ones, these among them; not beyond `ends`.
llvm::DenseSet<const BasicBlock*> reached(llvm::SmallVector<const BasicBlock*, 16> open,
                                          const llvm::DenseSet<const BasicBlock*>& ends) {
  llvm::DenseSet<const BasicBlock*> result(open.begin(), open.end());
  while (!open.empty()) {
    const BasicBlock* block = open.pop_back_val();
    if (ends.contains(block)) continue;
    for (const BasicBlock* next : llvm::successors(block)) {
      if (result.insert(next).second) open.push_back(next);
    }
  }
  return result;
}

// What the start, up to the first stop, has in common with what is resumed: loops around stops, above all.
std::size_t made_twice(const llvm::Function& simdgroup) {
  llvm::DenseSet<const BasicBlock*> with_stop;
  llvm::SmallVector<const BasicBlock*, 16> behind;
  for (const BasicBlock& block : simdgroup) {
    if (!llvm::any_of(block, is_stop)) continue;
    with_stop.insert(&block);
    behind.append(llvm::succ_begin(&block), llvm::succ_end(&block));
  }
  const auto resumed = reached(behind, {});
  std::size_t size = 0;
  for (const BasicBlock* block : reached({&simdgroup.getEntryBlock()}, with_stop)) {
    if (resumed.contains(block)) size += block->size();
  }
  return size;
}

}  // namespace

std::uint32_t split_at_barriers(llvm::Module& module, llvm::Function& simdgroup, llvm::TargetMachine& machine,
                                std::size_t most_made_twice) {
  BasicBlock& first = simdgroup.getEntryBlock();
  llvm::IRBuilder<> start(&first, first.getFirstNonPHIOrDbgOrAlloca());
  if (made_twice(simdgroup) > most_made_twice) {
    llvm::CallInst* yield = start.CreateCall(module.getOrInsertFunction(yield_name, start.getVoidTy()));
    start.SetInsertPoint(yield);
  }
  cpu::Stops stops;
  stops.frame_alignment = frame_alignment;
  for (llvm::Instruction& instruction : llvm::instructions(simdgroup)) {
    if (is_stop(instruction)) stops.calls.push_back(llvm::cast<llvm::CallInst>(&instruction));
  }
  llvm::Value* place = start.CreateLoad(
      start.getPtrTy(),
      start.CreateConstInBoundsGEP1_64(start.getInt8Ty(), simdgroup.getArg(0), offsetof(ThreadgroupState, lane)));
  const auto say = [&](llvm::IRBuilder<>& builder, SimdgroupStop stop) {
    builder.CreateStore(builder.getInt64(static_cast<std::uint64_t>(stop)), place);
  };
  stops.leave = [&](llvm::IRBuilder<>& builder, llvm::CallInst& call) {
    const bool yields = call.getCalledFunction()->getName() == llvm::StringRef(yield_name);
    say(builder, yields ? SimdgroupStop::turn : SimdgroupStop::barrier);
  };
  stops.end = [&](llvm::IRBuilder<>& builder) { say(builder, SimdgroupStop::end); };
  return cpu::split_at_stops(module, simdgroup, stops, machine);
}

}  // namespace metalloid::engines::simd
