// What checks of bounds (check_bounds.h) become: branches. What an access outside does is the engine's.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <cstdint>

namespace metalloid::ir {

// In programs of one thread:
//
//   if (offset or bytes outside) { report }
//
// `report` appends the engine's code for a check that failed, which does not return, and leaves the block ended.
void lower_bounds_checks(llvm::Module& module,
                         llvm::function_ref<void(llvm::IRBuilderBase& builder, llvm::CallInst& check)> report);

// For offsets of accesses of that many bytes: what they must be less than. Wraps for nothing; 0 if none fits.
llvm::Value* bounds_limit(llvm::IRBuilderBase& builder, llvm::Value* available, std::uint64_t bytes);
// Whether an access lies inside.
llvm::Value* is_inside(llvm::IRBuilderBase& builder, llvm::Value* offset, llvm::Value* bytes, llvm::Value* available);

}  // namespace metalloid::ir
