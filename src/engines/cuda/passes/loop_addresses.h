// Whether LLVM's loop strength reduction is of use to a kernel.
//
//   for (k) sum += a[k] * x[k] + b[k] * x[k] + ...    ->    p = a, q = b, ...; for (k) ..., p += 4, q += 4, ...
//
// It gives each row that a loop goes along an address of 64 bits that goes along, too. Of few rows that saves
// instructions; of many it takes registers throughout the loop, and the GPU's assembler makes as few instructions of
// one counter. Of short loops the instructions count for more.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::cuda {

// Whether some long innermost loop goes along many rows of memory: addresses that are not a known distance apart.
bool goes_along_many_rows(llvm::Module& module);

}  // namespace metalloid::engines::cuda
