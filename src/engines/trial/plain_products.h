// matmul2d by three plain loops, from the operation's operands alone: what proves that they say all.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include "ir/operations.h"

namespace metalloid::engines::trial {

// An ir::OperationPolicy: products of matrices in memory, whatever becomes of the result.
bool is_plain_product(const ir::Operation& operation, const llvm::CallBase& call);

// In a specialised module.
void lower_plain_products(llvm::Module& module);

}  // namespace metalloid::engines::trial
