// The functions of math for floats, one or a vector of them. Errors are below the bounds of MSL spec §8.4 for every
// argument, special ones included; docs/vector-math.md lists the largest ones. Names are those of C.
#pragma once

#include <llvm/IR/Function.h>

#include "ir/math/expressions.h"

namespace metalloid::ir::math {

Floats exp(Floats x);
Floats exp2(Floats x);
Floats exp10(Floats x);
Floats sinh(Floats x);
Floats cosh(Floats x);
Floats tanh(Floats x);

Floats log(Floats x);
Floats log2(Floats x);
Floats log10(Floats x);

// The functions that are given are those of ModuleFunctions::get_rare. Without fused multiplication pow needs none.
Floats pow(Floats x, Floats y, llvm::Function* unusual_powers);
Floats powi(Floats x, Integers n);

// x less the nearest multiple of a quarter turn, and that multiple as far as its last two bits go. The function is null
// where x is known to be no large angle.
struct ReducedAngle {
  Floats rest;
  Integers quarter;
};
ReducedAngle reduce_angle(Floats x, llvm::Function* reduce_large_angles);
Floats sin(const ReducedAngle& x);
Floats cos(const ReducedAngle& x);
Floats tan(const ReducedAngle& x);

Floats asin(Floats x);
Floats acos(Floats x);
Floats atan(Floats x);
Floats atan2(Floats y, Floats x);

Floats fmod(Floats x, Floats y, llvm::Function* large_remainders);

// x 2^k, rounded once.
Floats ldexp(Floats x, Integers k);
// x y + z, rounded once, on processors without an instruction for it; of floats that hold halves, so that rounding to
// half comes out as if it was the only one.
Floats fma(Floats x, Floats y, Floats z);
Floats fma_of_halves(Floats x, Floats y, Floats z);

// For processors without instructions for them.
Floats trunc(Floats x);
Floats floor(Floats x);
Floats ceil(Floats x);
Floats round(Floats x);

}  // namespace metalloid::ir::math
