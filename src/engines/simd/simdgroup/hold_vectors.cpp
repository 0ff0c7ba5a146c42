#include "engines/simd/simdgroup/hold_vectors.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>

#include <cstdint>

#include "ir/support/pass_managers.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

// Of the runs of a block, at least every so many-th leads to where its vectors are wanted.
constexpr std::uint64_t seldom = 4;

bool is_held(const Instruction& instruction) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  if (!type || type->getNumElements() != simdgroup_width) return false;
  const llvm::Type* element = type->getElementType();
  if (!element->isFloatTy() && !element->isIntegerTy(32)) return false;
  return llvm::isa<llvm::ShuffleVectorInst, llvm::BinaryOperator, llvm::CastInst>(instruction);
}

// Where it is used; none if its own block is among these.
llvm::SmallPtrSet<const BasicBlock*, 4> blocks_of_uses(const Instruction& instruction) {
  llvm::SmallPtrSet<const BasicBlock*, 4> blocks;
  for (const llvm::Use& use : instruction.uses()) {
    const auto* user = llvm::cast<Instruction>(use.getUser());
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
    blocks.insert(phi ? phi->getIncomingBlock(use) : user->getParent());
  }
  if (blocks.contains(instruction.getParent())) blocks.clear();
  return blocks;
}

}  // namespace

void hold_vectors(llvm::Module& module) {
  ir::PassManagers managers;
  for (llvm::Function& function : module) {
    llvm::SmallVector<Instruction*, 32> held;
    for (Instruction& instruction : llvm::instructions(function)) {
      if (is_held(instruction) && blocks_of_uses(instruction).size() > 1) held.push_back(&instruction);
    }
    if (held.empty()) continue;
    auto& frequencies = managers.functions.getResult<llvm::BlockFrequencyAnalysis>(function);
    for (Instruction* instruction : held) {
      const auto here = frequencies.getBlockFreq(instruction->getParent()).getFrequency();
      const bool is_wanted = llvm::any_of(blocks_of_uses(*instruction), [&](const BasicBlock* block) {
        return frequencies.getBlockFreq(block).getFrequency() >= here / seldom;
      });
      if (!is_wanted) continue;
      llvm::IRBuilder<> builder(instruction->getNextNode());
      builder.CreateIntrinsic(builder.getVoidTy(), llvm::Intrinsic::fake_use, {instruction});
    }
  }
}

}  // namespace metalloid::engines::simd
