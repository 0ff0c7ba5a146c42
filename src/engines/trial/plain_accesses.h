// Loads and stores of simdgroup matrices, a lane's two elements each, from the operations' operands alone.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include "ir/operations.h"

namespace metalloid::engines::trial {

// An ir::OperationPolicy: all of them.
bool is_plain_access(const ir::Operation& operation, const llvm::CallBase& call);

// In a specialised module.
void lower_plain_accesses(llvm::Module& module);

}  // namespace metalloid::engines::trial
