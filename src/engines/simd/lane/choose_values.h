// Branches that do nothing but choose values become choices.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace metalloid::engines::simd {

// Where lanes part, all ways run, each with the lanes that take it, and what they bring is put together where they
// meet: for a few instructions that is more than they are. LLVM makes choices of branches with two short ways. Of those
// with more, as of `switch (n & 3)` around shifts by whole bytes, and of branches that meet where others do, it does
// not:
//
//   br %n:  switch %n, a, [1: b], [2: c]         b: %x = op1       %x = op1
//   b:  %x = op1; br m                           c: %y = op2  ->   %y = op2
//   c:  %y = op2; br m                                             %v = %n == 2 ? %y : %n == 1 ? %x : %w
//   m:  %v = phi [%w, a], [%x, b], [%y, c]
//
// Hash functions are made of such branches by the thousand. Pointers are left alone: what memory they lead to is seen
// by the way they come.
struct ChooseValuesPass : llvm::PassInfoMixin<ChooseValuesPass> {
  static llvm::PreservedAnalyses run(llvm::Function& lane, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metalloid::engines::simd
