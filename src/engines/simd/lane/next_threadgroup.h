// What values are in the threadgroup that runs next.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include <array>

namespace metalloid::engines::simd {

// Of values that are there where the builder stands, and computed from the threadgroup's position in the grid, which a
// lane's program reads from its first parameter (cpu_shared/kernel_abi.h). Threadgroups run in the order of x, then y.
class NextThreadgroup {
 public:
  NextThreadgroup(llvm::Function& lane, llvm::IRBuilder<>& builder) : state_(lane.getArg(0)), builder_(builder) {}

  // The value itself if it is the same in all threadgroups. Null if it takes more than arithmetic.
  llvm::Value* value_of(llvm::Value* value, unsigned depth = 0);

 private:
  llvm::Value* position(llvm::LoadInst& load);
  llvm::Value* copy_of(llvm::Instruction& instruction, unsigned depth);

  llvm::Value* state_;
  llvm::IRBuilder<>& builder_;
  std::array<llvm::Value*, 3> next_{};
  llvm::DenseMap<llvm::Value*, llvm::Value*> known_;
};

}  // namespace metalloid::engines::simd
