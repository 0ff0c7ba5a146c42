// multiply_floats
//
//   c = product(a, b, c)    ->    for k = 0 ... 7: c = fma(a of the row and k, b of k and the column, c)
//   d = product(a, e, d)                           d = fma(a of the row and k, e of k and the column, d)
//
// Tensor cores would drop bits of floats. What other lanes have of an operand comes by shuffles, or, if it was just
// read from threadgroup memory, is read from there: a shuffle brings four bytes, a read up to sixteen. A lane fetches
// it once for all products of a block, and these go on side by side, so that it holds what belongs to one k only.
#pragma once

#include <llvm/IR/Module.h>

#include "engines/cuda/lanes/lane_order.h"

namespace metalloid::engines::cuda {

void multiply_floats(llvm::Module& module, LaneOrder order);

}  // namespace metalloid::engines::cuda
