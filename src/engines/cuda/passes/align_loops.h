// align_loops
//
//   for (...) { a[0]; a[1]; a[2]; a[3]; a += s; }
// ->
//   if (a and s are multiples of 16 bytes)
//     for (...) ...                              where a[0] is aligned to 16 bytes: one access of the code generator's
//   else
//     for (...) { a[0]; a[1]; a[2]; a[3]; a += s; }
//
// Innermost loops without checks that read memory which nobody writes: neighbours, or what is not sure to be aligned as
// its type says. Not where lanes of a simdgroup are likely to go different ways.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::engines::cuda {

void align_loops(llvm::Function& function);

}  // namespace metalloid::engines::cuda
