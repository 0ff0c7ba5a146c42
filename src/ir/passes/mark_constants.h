// Reads of constant memory may be moved over any write: nothing changes while a kernel runs.
//
//   load i32, ptr addrspace(2) %size   ->   load i32, ptr addrspace(2) %size, !invariant.load
//
// So the bound of a loop that writes to device memory is read once. Metal forbids kernels to change what is bound as
// constant (Metal Shading Language Specification, constant address space).
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

void mark_constants(llvm::Module& module);

}  // namespace metalloid::ir
