#include "engines/simd/simdgroup/split_at_barriers.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <cstddef>
#include <string_view>

#include "engines/cpu_shared/passes/split_at_stops.h"
#include "engines/simd/run/simdgroup_abi.h"

namespace metalloid::engines::simd {

std::uint32_t split_at_barriers(llvm::Module& module, llvm::Function& simdgroup, llvm::TargetMachine& machine,
                                unsigned most_repeated) {
  cpu::Stops stops;
  stops.most_repeated = most_repeated;
  stops.frame_alignment = frame_alignment;
  for (llvm::Instruction& instruction : llvm::instructions(simdgroup)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee) continue;
    const std::string_view name = callee->getName();
    if (name == barrier_name || name == yield_name) stops.calls.push_back(call);
  }
  llvm::BasicBlock& first = simdgroup.getEntryBlock();
  llvm::IRBuilder<> start(&first, first.getFirstNonPHIOrDbgOrAlloca());
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
