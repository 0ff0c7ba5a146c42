// Operations on matrices that are spread over the lanes of a simdgroup (the layout is in ir/operations.def).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/operations.h"

namespace metalloid::engines::simd {

// The two vectors of a matrix. Operands of lanes that do not take part count as zero.
llvm::SmallVector<llvm::Value*, 2> matrix_code(llvm::IRBuilder<>& builder, const ir::MatrixOperation& operation,
                                               llvm::ArrayRef<llvm::Value*> operands, llvm::Value* lanes);

}  // namespace metalloid::engines::simd
