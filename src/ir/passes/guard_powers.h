// Powers with exponents n + 1/2 are right for zeros and infinities, too.
//
// LLVM makes roots of those that may be approximate, and forgets these:
//
//   pow(x, 2.5)     x x sqrt(x)              NaN for x = -inf, where C and MSL have +inf
//   pow(x, -0.5)    1 / sqrt(x)              -inf for x = -0, where they have +inf
//   pow(x, -2.5)    sqrt(x) / (x x x)        NaN for x = 0 and x = inf, where they have +inf and 0
//
// So the power of minus infinity is chosen, and others are |pow(x, 2.5)|, or |1 / pow(x, 2.5)| with a negative
// exponent. The root stays that of x, which other code may want as well.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

// In front of simplify, behind whatever makes exponents constants.
void guard_powers(llvm::Module& module);

}  // namespace metalloid::ir
