// Checks of a loop's turns become one in front of the loop.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace metalloid::ir {

//   for (i = a; i < n; i += s) { check(x + 4 i); ... }
// ->
//   if (all of x .. x + 4 n is inside, and n + s does not wrap)
//     for (i = a; i < n; i += s) ...                 whose turns can be counted, and which is unrolled for that
//   else
//     for (i = a; i < n; i += s) { check(x + 4 i); ... }
//
// Of short loops that many turns are done at once in the first form, a power of two, then half as many of the rest; 0:
// as many as LLVM sees fit.
//
// Innermost loops whose counter grows up to something that they do not change. Those in which lanes meet stay as they
// are, because threads may go different ways, unless whole simdgroups meet there and agree on the way in front.
struct LoopMeetings {
  // Of a convergent call: whether simdgroups come to it whole, and it does not matter whether others do so elsewhere.
  llvm::function_ref<bool(const llvm::CallBase& call)> is_of_whole_simdgroups;
  // i1: whether a condition holds for all lanes of the simdgroup, which is whole at the builder's place.
  llvm::function_ref<llvm::Value*(llvm::IRBuilderBase& builder, llvm::Value* condition)> holds_for_all;
};
void hoist_checks(llvm::Function& function, unsigned turns_at_once, const LoopMeetings* meetings = nullptr);

}  // namespace metalloid::ir
