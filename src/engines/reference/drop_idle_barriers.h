// Removes simdgroup barriers that order nothing.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::reference {

//   ... = load A                        ... = load A
//   simdgroup_barrier       ->          ... = load B
//   ... = load B
//
// Lanes meet at each barrier, cross-lane operation and matrix product. Where the stretches of a block before and
// after a simdgroup barrier, each up to the neighbouring meeting, write nothing that another lane could read, the
// barrier has no two accesses to keep apart. Kernels set such barriers around the loads of a matrix product for a
// compiler's sake; here each one would stop all lanes. Stretches that leave the block count as writing.
void drop_idle_barriers(llvm::Module& module);

}  // namespace metalloid::engines::reference
