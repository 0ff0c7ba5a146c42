// Functions that call themselves stay on their stack, and end when the host wants it.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include "engines/cuda/passes/lower_arguments.h"
#include "engines/cuda/passes/reports.h"

namespace metalloid::engines::cuda {

//   call void @sum(..)    ->    if (what is left of the stack < what @sum may take) { report, end the thread }
//                               now and then: if the host's word `stop` is set, end the thread
//                               call void @sum(..)
//
// How much a function takes is estimated, for only the assembler knows: its variables, and room for registers.
void limit_recursion(llvm::ArrayRef<Entry> functions, Reports& reports);

}  // namespace metalloid::engines::cuda
