#include "engines/simd/lane_positions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "engines/cpu/kernel_abi.h"
#include "engines/cpu/passes/lower_arguments.h"
#include "engines/simd/lane_target.h"

namespace metalloid::engines::simd {

using llvm::Value;

void place_lanes(llvm::Function& lane, Arrangement arrangement) {
  llvm::BasicBlock& first_block = lane.getEntryBlock();
  llvm::IRBuilder<> builder(&first_block, first_block.getFirstNonPHIOrDbgOrAlloca());
  auto callee = lane.getParent()->getOrInsertFunction(llvm::StringRef(lane_number_name), builder.getInt32Ty());
  llvm::cast<llvm::Function>(callee.getCallee())->setMemoryEffects(llvm::MemoryEffects::none());
  const auto extent = [&](std::size_t dimension) {
    Value* place = builder.CreateConstInBoundsGEP1_64(
        builder.getInt8Ty(), lane.getArg(0),
        offsetof(cpu::ThreadgroupState, threads_per_threadgroup) + dimension * sizeof(std::uint32_t));
    return builder.CreateLoad(builder.getInt32Ty(), place);
  };
  Value* number = builder.CreateCall(callee);
  Value* first = lane.getArg(1);
  Value *width = extent(0), *height = extent(1);
  Value* index = builder.CreateAdd(first, number, "", /*HasNUW=*/true, /*HasNSW=*/true);
  Value* counted = arrangement == Arrangement::row ? first : index;
  Value* rows = builder.CreateUDiv(counted, width);
  Value* x = builder.CreateURem(counted, width);
  if (arrangement == Arrangement::row) x = builder.CreateAdd(x, number, "", /*HasNUW=*/true, /*HasNSW=*/true);
  const std::array<Value*, 3> position = {x, builder.CreateURem(rows, height), builder.CreateUDiv(rows, height)};
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(lane))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* asked = call ? call->getCalledFunction() : nullptr;
    if (!asked) continue;
    const std::string_view name = asked->getName();
    Value* answer = name == cpu::index_name ? index : nullptr;
    for (unsigned d = 0; d < 3; ++d) {
      if (name == cpu::position_names[d]) answer = position[d];
    }
    if (!answer) continue;
    call->replaceAllUsesWith(answer);
    call->eraseFromParent();
  }
}

}  // namespace metalloid::engines::simd
