// Checks of a loop's turns become one in front of the loop.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::ir {

//   for (i = a; i < n; i += s) { check(x + 4 i); ... }
// ->
//   if (all of x .. x + 4 n is inside, and n + s does not wrap)
//     for (i = a; i < n; i += s) ...                 whose turns can be counted, and which is unrolled for that
//   else
//     for (i = a; i < n; i += s) { check(x + 4 i); ... }
//
// Of short loops that many turns are done at once in the first form, a power of two, then half as many of the rest; 0:
// as many as LLVM sees fit.
//
// Innermost loops whose counter grows up to something that they do not change. Those in which lanes meet stay as they
// are: threads may go different ways.
void hoist_checks(llvm::Function& function, unsigned turns_at_once);

}  // namespace metalloid::ir
