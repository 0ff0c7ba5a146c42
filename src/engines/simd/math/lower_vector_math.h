// Math of whole vectors as vector code.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::simd {

// Replaces what LLVM would turn into a call per element: math intrinsics and frem on vectors of half, bfloat and float,
// of any length; on processors without the instructions, also fma, ldexp and roundings, and what of half and bfloat
// LLVM would compute one by one (docs/vector-math.md). Vectors of double stay as they are: a call per element.
// The code calls functions that vector_math_symbol() (math/rare_lanes.h) knows.
void lower_vector_math(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace metalloid::engines::simd
