#include "engines/cpu_shared/passes/lower_private_memory.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engines/cpu_shared/kernel_abi.h"

namespace metalloid::engines::cpu {
namespace {

// Far below what any thread's stack holds.
constexpr std::uint64_t most_on_stack = 64 * 1024;

void erase_lifetimes(llvm::AllocaInst& variable) {
  for (llvm::User* user : llvm::make_early_inc_range(variable.users())) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    if (instruction && instruction->isLifetimeStartOrEnd()) instruction->eraseFromParent();
  }
}

}  // namespace

std::uint32_t lower_private_memory(llvm::Module& module, llvm::Function& entry, bool threads_meet) {
  struct Place {
    llvm::AllocaInst* variable;
    std::uint64_t offset;
  };
  std::vector<Place> places;
  std::uint64_t size = 0;
  for (llvm::Instruction& instruction : entry.getEntryBlock()) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!variable || !variable->isStaticAlloca()) continue;
    const llvm::Align alignment = std::min(variable->getAlign(), llvm::Align(private_memory_alignment));
    size = llvm::alignTo(size, alignment);
    places.push_back({variable, size});
    const auto bytes = variable->getAllocationSize(module.getDataLayout());
    size += bytes ? bytes->getFixedValue() : 0;
  }
  if (places.empty() || (!threads_meet && size <= most_on_stack)) return 0;
  llvm::IRBuilder<> builder(&entry.getEntryBlock(), entry.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  llvm::Value* base = builder.CreateLoad(
      builder.getPtrTy(), builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), entry.getArg(0),
                                                             offsetof(ThreadgroupState, private_memory)));
  for (const Place& place : places) {
    erase_lifetimes(*place.variable);
    place.variable->replaceAllUsesWith(
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, place.offset, place.variable->getName()));
    place.variable->eraseFromParent();
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, UINT32_MAX));
}

}  // namespace metalloid::engines::cpu
