// What a thread does that cannot go on: it leaves a report, if it is the first, and ends.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <array>
#include <cstddef>
#include <map>

#include "engines/cuda/kernel_abi.h"
#include "engines/cuda/passes/lower_arguments.h"

namespace metalloid::engines::cuda {

// Each function has one place for it, made when it is first wanted.
class Reports {
 public:
  // `functions`: the kernel's and those of functions that stay calls.
  explicit Reports(llvm::ArrayRef<Entry> functions);

  // From the builder's place, which is the end of a block. `check`: one of bounds (ir/bounds/check_bounds.h).
  void write(llvm::IRBuilderBase& builder, llvm::CallInst& check);
  // `place`: where it happened.
  void write(llvm::IRBuilderBase& builder, Failure failure, const llvm::Instruction& place);

 private:
  static constexpr std::size_t count = 7;
  struct Writer {
    Entry entry{};
    llvm::BasicBlock* block = nullptr;
    std::array<llvm::PHINode*, count> merged{};
  };
  void write(llvm::IRBuilderBase& builder, const std::array<llvm::Value*, count>& values);
  static void make(Writer& writer);

  std::map<const llvm::Function*, Writer> writers_;
};

// Traps end the thread that comes to them, not the process's context.
void lower_traps(llvm::Module& module, Reports& reports);

}  // namespace metalloid::engines::cuda
