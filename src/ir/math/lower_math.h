// Math as code.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <functional>
#include <string>

#include "ir/math/expressions.h"

namespace metalloid::ir::math {

// Appends an engine's own code for rare arguments (rare_arguments.h) to a function of that name, and gives the results:
// the usual ones wherever the operands are not rare.
using RareBody = std::function<llvm::SmallVector<llvm::Value*, 2>(llvm::IRBuilder<>& builder, const std::string& name,
                                                                  llvm::ArrayRef<llvm::Value*> operands,
                                                                  llvm::ArrayRef<llvm::Value*> usual)>;

enum class MathForms : std::uint8_t { vectors, vectors_and_scalars };

// Replaces what LLVM would turn into a call of the C library, per element: math intrinsics and frem on half, bfloat and
// float; on processors without the instructions, also fma, ldexp and roundings, and what of half and bfloat LLVM would
// compute one by one (docs/vector-math.md). Doubles stay as they are. Without a `rare_body` the code needs nothing
// outside of the module.
void lower_math(llvm::Module& module, const MathHardware& hardware, MathForms forms, RareBody rare_body = {});

}  // namespace metalloid::ir::math
