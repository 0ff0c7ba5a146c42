#include "engines/simd/split_at_barriers.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <cstddef>

#include "engines/cpu/passes/split_at_stops.h"
#include "engines/simd/simdgroup_abi.h"

namespace metalloid::engines::simd {

std::uint32_t split_at_barriers(llvm::Module& module, llvm::Function& simdgroup, llvm::TargetMachine& machine) {
  cpu::Stops stops;
  stops.frame_alignment = frame_alignment;
  for (llvm::Instruction& instruction : llvm::instructions(simdgroup)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (callee && callee->getName() == llvm::StringRef(barrier_name)) stops.calls.push_back(call);
  }
  llvm::BasicBlock& first = simdgroup.getEntryBlock();
  llvm::IRBuilder<> start(&first, first.getFirstNonPHIOrDbgOrAlloca());
  llvm::Value* place = start.CreateLoad(
      start.getPtrTy(), start.CreateConstInBoundsGEP1_64(start.getInt8Ty(), simdgroup.getArg(0),
                                                         offsetof(ThreadgroupState, lane)));
  stops.leave = [&](llvm::IRBuilder<>& builder, llvm::CallInst&) { builder.CreateStore(builder.getInt64(1), place); };
  stops.end = [&](llvm::IRBuilder<>& builder) { builder.CreateStore(builder.getInt64(0), place); };
  return cpu::split_at_stops(module, simdgroup, stops, machine);
}

}  // namespace metalloid::engines::simd
