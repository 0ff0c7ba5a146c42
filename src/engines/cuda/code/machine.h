// LLVM's code generator for NVIDIA's GPUs.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "engines/cuda/code/target.h"

namespace metalloid::engines::cuda {

// Does early what the first compile would do.
void prepare_code_generation();

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target);

// The module becomes one of the machine's.
void retarget(llvm::Module& module, const llvm::TargetMachine& machine);
void optimise(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace metalloid::engines::cuda
