// What checks of bounds (ir/bounds/check_bounds.h) become on a GPU.
#pragma once

#include <llvm/IR/Module.h>

#include "engines/cuda/passes/reports.h"

namespace metalloid::engines::cuda {

//   check(4 zext(i), 4, bytes of a)
//   check(4 zext(j), 4, bytes of b)
// ->
//   if (!(i < elements of a && j < elements of b)) {
//     for each: if (it is not inside, also of what lies in front) report
//   }
//
// Checks that nothing stands between have one branch. What decides it is one comparison of 32 bits for each check, if
// an index of as many is scaled by a power of two: how many elements of that size there are comes with the launch
// (ArgumentSlot). It may say no to what is inside; what is exact stands behind the branch. A report is written at one
// place of each function.
void lower_bounds_checks(llvm::Module& module, Reports& reports);

}  // namespace metalloid::engines::cuda
