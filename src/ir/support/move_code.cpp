#include "ir/support/move_code.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>

namespace metalloid::ir {
namespace {

using llvm::Instruction;

bool is_movable(const Instruction& instruction) {
  return !llvm::isa<llvm::PHINode>(instruction) && !instruction.mayReadOrWriteMemory() && !instruction.isTerminator() &&
         llvm::isSafeToSpeculativelyExecute(&instruction);
}

}  // namespace

bool can_be_at(llvm::Value* value, const Instruction& place, unsigned depth) {
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!instruction || instruction->getParent() != place.getParent() || instruction->comesBefore(&place)) return true;
  if (depth == 0 || !is_movable(*instruction)) return false;
  return llvm::all_of(instruction->operands(),
                      [&](const llvm::Use& operand) { return can_be_at(operand, place, depth - 1); });
}

void bring(llvm::Value* value, Instruction& place) {
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (!instruction || instruction->getParent() != place.getParent() || instruction->comesBefore(&place)) return;
  for (llvm::Use& operand : instruction->operands()) bring(operand, place);
  instruction->moveBefore(place.getIterator());
}

}  // namespace metalloid::ir
