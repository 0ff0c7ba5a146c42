// What an access outside of its memory does (ir/bounds/check_bounds.h): a call of the runtime, which ends the dispatch.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "engines/cpu_shared/passes/lower_arguments.h"

namespace metalloid::engines::cpu {

// In programs of one thread checks are branches:
//
//   if (offset or bytes outside) metalloid_report_bounds(state, thread, offset, bytes, available, ...)
//
// Functions that stay calls leave out state and thread.
void lower_bounds_checks(llvm::Module& module, const Entry& entry);

// Calls what ends the dispatch. `check`: the operands of a check. Leaves the block ended.
void report_bounds(llvm::IRBuilderBase& builder, llvm::Value* state, llvm::Value* thread,
                   llvm::ArrayRef<llvm::Value*> check);

}  // namespace metalloid::engines::cpu
