// Loops whose copies would be more code than they are worth.
#pragma once

#include <cstdint>

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace metalloid::engines::simd {

// Instructions of a lane's program with its loops unrolled, above which loops stay.
struct UnrollingLimits {
  std::uint64_t any = 2000;  // those that choose no place in a variable: it becomes machine code in a second or so
  std::uint64_t with_places = 4000;  // also those that choose places in variables which no registers hold anyway
};

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
//
// Of numbers of thousands of bits, which take the registers several times, short bodies stay, too:
//
//   for (i) for (j) r[i + j] += x[i] * y[j];   64 * 64 turns
struct LimitUnrollingPass : llvm::PassInfoMixin<LimitUnrollingPass> {
  explicit LimitUnrollingPass(const UnrollingLimits& limits = {}) : limits_(limits) {}
  llvm::PreservedAnalyses run(llvm::Function& lane, llvm::FunctionAnalysisManager& analyses) const;

 private:
  UnrollingLimits limits_;
};

void limit_unrolling(llvm::Function& lane, const UnrollingLimits& limits);

}  // namespace metalloid::engines::simd
