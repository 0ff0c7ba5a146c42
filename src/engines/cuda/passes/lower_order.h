// Orders of memory: fences, and the scopes of atomic accesses, in the GPU's words.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "ir/memory_ordering.h"

namespace metalloid::engines::cuda {

// Of a block, or of the GPU where others may see it.
void create_fence(llvm::IRBuilder<>& builder, const ir::MemoryOrdering& ordering);

// metalloid.fence, and atomic accesses: scopes of the threadgroup are a block's, those of the device the GPU's.
void lower_order(llvm::Module& module);

}  // namespace metalloid::engines::cuda
