// Reads of constant tables say how large the numbers in them are.
//
//   @sbox = constant [256 x i32] [i32 99, i32 124, ...]          none above 255
//   load i32, ptr addrspace(2) %of.sbox   ->   load i32, ptr addrspace(2) %of.sbox, !range [0, 256)
//
// So an index that comes out of such a table needs no check. For kernels whose threads end when they read outside.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

void mark_tables(llvm::Module& module);

}  // namespace metalloid::ir
