// Checks of bounds (ir/bounds/check_bounds.h) of kernels whose arguments come out of a state structure.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

#include <memory>

#include "ir/bounds/kernel_memory.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::cpu {

// The arguments' memory, as a function sees it that is an entry which lower_arguments made, or one that stays a call.
std::unique_ptr<ir::KernelMemory> kernel_memory_of(llvm::Function& function, const KernelInfo& info);

// `function` is an entry that lower_arguments made, or one that stays a call.
void check_bounds(llvm::Function& function, const KernelInfo& info, llvm::FunctionAnalysisManager& analyses);
// All functions of a module.
void check_bounds(llvm::Module& module, const KernelInfo& info);

}  // namespace metalloid::engines::cpu
