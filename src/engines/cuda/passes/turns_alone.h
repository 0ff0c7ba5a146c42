// Whether turns of a loop may be done by other threads of the threadgroup than the source says, as far as memory goes.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Instructions.h>

namespace metalloid::engines::cuda {

// Of a loop's loads and stores, and the blocks in front of it, of its test and behind it. What a turn writes is in
// device memory, each object at one address, and nothing else in the loop comes to that object. On all ways from and to
// the loop a barrier of the threadgroup comes before whatever else comes to an object that it writes, or writes one
// that it reads, and before atomic operations, by which threads may tell each other what they did.
bool turns_are_alone(llvm::ArrayRef<llvm::Instruction*> accesses, const llvm::BasicBlock& before,
                     const llvm::BasicBlock& test, const llvm::BasicBlock& behind);

}  // namespace metalloid::engines::cuda
