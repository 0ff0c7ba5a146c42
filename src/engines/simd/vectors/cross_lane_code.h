// Operations across the lanes of a simdgroup, as code on vectors of 32 elements.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/operations.h"

namespace metalloid::engines::simd {

// `lanes`: those that take part, null for all. A lane that does not may get anything. `operand`: of permutations, per
// lane. Results of reductions are scalars, of all else vectors.
llvm::Value* cross_lane_code(llvm::IRBuilder<>& builder, const ir::CrossLaneOperation& operation, llvm::Value* value,
                             llvm::Value* operand, llvm::Value* lanes);

// Element i of the result is element sources[i] of the value, 0 to 31.
llvm::Value* shuffle_lanes(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::Value* sources);

}  // namespace metalloid::engines::simd
