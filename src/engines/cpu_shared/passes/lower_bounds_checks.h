// What checks of bounds (check_bounds.h) become.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>

#include "engines/cpu_shared/passes/lower_arguments.h"

namespace metalloid::engines::cpu {

// In programs of one thread they are branches:
//
//   if (offset or bytes outside) metalloid_report_bounds(state, thread, offset, bytes, available, ...)
//
// Functions that stay calls leave out state and thread.
void lower_bounds_checks(llvm::Module& module, const Entry& entry);

// For offsets of accesses of that many bytes: what they must be less than. Wraps for nothing; 0 if none fits.
llvm::Value* bounds_limit(llvm::IRBuilderBase& builder, llvm::Value* available, std::uint64_t bytes);
// Whether an access lies inside.
llvm::Value* is_inside(llvm::IRBuilderBase& builder, llvm::Value* offset, llvm::Value* bytes, llvm::Value* available);
// Calls what ends the dispatch. `check`: the operands of a check. Leaves the block ended.
void report_bounds(llvm::IRBuilderBase& builder, llvm::Value* state, llvm::Value* thread,
                   llvm::ArrayRef<llvm::Value*> check);

}  // namespace metalloid::engines::cpu
