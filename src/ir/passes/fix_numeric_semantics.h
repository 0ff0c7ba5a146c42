// Gives arithmetic that C++ leaves undefined the meaning it has in Metal, on every engine alike.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

// Must see the code before any optimisation may use the undefined behaviour.
//
//   shl x, n             shl x, n & (width - 1)       MSL spec: only the low bits of the amount count
//   udiv x, y            udiv x, y == 0 ? 1 : y       unspecified in MSL but must not trap:
//   sdiv x, y            sdiv x, bad ? 1 : y          x / 0 = x, x % 0 = 0, MIN / -1 = MIN, MIN % -1 = 0
//                        with bad = y == 0 or (x == MIN and y == -1)
//   fptosi, fptoui       llvm.fptosi.sat, .fptoui.sat MSL spec §8.6: NaN becomes 0; out of range saturates
//
// Divisors and amounts that are known to be harmless stay as they are.
void fix_numeric_semantics(llvm::Module& module);

}  // namespace metalloid::ir
