// Loops whose number of turns is the same for every thread.
#pragma once

#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

namespace metalloid::engines::simd {

// A threadgroup copies a tile by `for (i = thread; i < 512; i += 128)`. With up to 128 threads in it (lower_arguments
// says so) each of them takes four turns, which LLVM can tell as a range of one number, and unrolls no such loop. So
// turns are counted:
//
//   %again = icmp ult i32 %i, 512          ->   %turn = phi i32 [ 0, %entry ], [ %next.turn, %loop ]
//                                               %again = icmp ne i32 %turn, 4
struct CountTurnsPass : llvm::PassInfoMixin<CountTurnsPass> {
  static llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& manager,
                                     llvm::LoopStandardAnalysisResults& analyses, llvm::LPMUpdater& updater);
};

}  // namespace metalloid::engines::simd
