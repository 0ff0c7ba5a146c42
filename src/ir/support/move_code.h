// Bringing what computes a value to an earlier place of its block.
#pragma once

#include <llvm/IR/Instruction.h>

namespace metalloid::ir {

// Whether a value can be there in front of an instruction of its block: it is already, or only arithmetic is between.
bool can_be_at(llvm::Value* value, const llvm::Instruction& place, unsigned depth = 12);
// Moves what makes it in front of `place`, if it is not there.
void bring(llvm::Value* value, llvm::Instruction& place);

}  // namespace metalloid::ir
