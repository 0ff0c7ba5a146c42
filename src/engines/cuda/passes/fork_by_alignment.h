// Where nobody knows whether accesses are aligned, two ways lead on.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/Alignment.h>

namespace metalloid::engines::cuda {

// The widest access that the GPU has, in bytes.
inline const llvm::Align widest_access(16);

// Accesses that code in front asks about already.
void note_aligned(llvm::Instruction& access);
bool is_noted_aligned(const llvm::Instruction& access);

struct UnsureAccess {
  llvm::Instruction* instruction;  // a load or a store
  llvm::Align sure;
};

//   %v = load i64, ptr %p, align 8           if (%p and %q are multiples of 8) { both as they are }
//   %w = load i64, ptr %q, align 8    ->     else { both in pieces that are aligned for sure }
//
// A run of accesses in one block has one question, so that the way of aligned ones has all of their reads on their way
// at once. `unsure`: block by block in order.
void fork_by_alignment(llvm::Function& function, llvm::ArrayRef<UnsureAccess> unsure);

}  // namespace metalloid::engines::cuda
