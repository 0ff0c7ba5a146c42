// Operations on 8x8 matrices that the lanes of a simdgroup hold (ir/operations.def).
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include "engines/cuda/lanes/exchange.h"
#include "ir/operations.h"

namespace metalloid::engines::cuda {

// The calling lane's two elements of the result. Operands are pairs, too. Lanes that are not of the mask count as zero.
llvm::Value* operate_on_matrices(const Lanes& lanes, const ir::MatrixOperation& operation,
                                 llvm::ArrayRef<llvm::Value*> operands);

}  // namespace metalloid::engines::cuda
