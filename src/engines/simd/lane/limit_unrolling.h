// Loops whose copies would be more code than they are worth.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace metalloid::engines::simd {

// Sources ask for loops around their products of matrices to be unrolled, and for those inside of them: 200
// instructions become 10,000, and those of vectors take LLVM many seconds. What a large program gains is that places in
// variables of the lane become values, and that small bodies lose their counting. So where the program would be large,
// loops stay whose bodies are long and whose turns choose no place in a variable, the one that saves most first, and
// where it would be larger still also those that choose places in variables which no registers hold:
//
//   for (k) {                       stays: choices of `k` are those of rows in memory
//     for (i) for (j)
//       sum[i][j] += a[i] * b[j];   is unrolled
//   }
struct LimitUnrollingPass : llvm::PassInfoMixin<LimitUnrollingPass> {
  static llvm::PreservedAnalyses run(llvm::Function& lane, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metalloid::engines::simd
