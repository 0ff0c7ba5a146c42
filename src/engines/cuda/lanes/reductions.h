// Sums, products, extremes and prefixes over the lanes of a simdgroup or of each quad.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "engines/cuda/lanes/exchange.h"
#include "ir/operations.h"

namespace metalloid::engines::cuda {

// What ir::CrossLane::sum to prefix_exclusive_product give the calling lane. Reductions are the tree that all engines
// have: lanes half a group apart first, whoever is missing left out. Prefixes are a tree too where all lanes take part,
// else one after the other. The builder may go on in another block.
llvm::Value* reduce(const Lanes& lanes, const ir::CrossLaneOperation& operation, llvm::Value* value);

}  // namespace metalloid::engines::cuda
