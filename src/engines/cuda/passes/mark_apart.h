// What usual code may count on because the host looks at a dispatch's memory: buffers that are written are no other's.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "engines/cuda/passes/lower_arguments.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::cuda {

// Parameters become `noalias`. False, and nothing is changed, if the kernel reaches memory by addresses that it reads
// from memory, of which the host knows too little. Before lower_arguments, whose inlining makes scopes of aliases of
// it.
bool mark_apart(llvm::Module& module, const KernelInfo& info);

// Loads from buffers that the kernel does not write become `invariant`: the GPU reads them without an order
// (ld.global.nc), also in front of stores to others. Where arguments are apart.
void mark_invariant(const Entry& entry);

}  // namespace metalloid::engines::cuda
