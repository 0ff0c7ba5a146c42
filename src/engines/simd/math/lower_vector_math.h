// Math of whole vectors as vector code.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "ir/math/expressions.h"

namespace metalloid::engines::simd {

ir::math::MathHardware math_hardware(const llvm::TargetMachine& machine);

// ir/math/lower_math.h for vectors alone. The code calls functions that vector_math_symbol() (rare_lanes.h) knows.
void lower_vector_math(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace metalloid::engines::simd
