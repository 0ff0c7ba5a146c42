// multiply_floats
//
//   c = product(a, b, c)    ->    for k = 0 ... 7: c = fma(a of the row and k, b of k and the column, c), by shuffles
//   d = product(a, e, d)
//
// What a lane has of a row it has for all products of the block that have this operand. Tensor cores would drop bits of
// floats.
#pragma once

#include <llvm/IR/Module.h>

#include "engines/cuda/lanes/lane_order.h"

namespace metalloid::engines::cuda {

void multiply_floats(llvm::Module& module, LaneOrder order);

}  // namespace metalloid::engines::cuda
