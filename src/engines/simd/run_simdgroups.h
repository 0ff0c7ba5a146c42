// The entry point of a widened kernel.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::simd {

//   void run_simdgroup(state, first)              one simdgroup of a threadgroup: whole and in a row of it, or not
//     if (all in one row and 32 threads left) row(state, first)
//     else anywhere(state, first, min(threads left, 32))
//
//   void metalloid_run_threadgroup(state)         kernels without barriers
//     for (first = 0; first < threads; first += 32) run_simdgroup(state, first)
//
// Kernels with barriers have run_simdgroup itself for an entry point (simdgroup_abi.h).
void run_simdgroups(llvm::Module& module, llvm::Function& row, llvm::Function& anywhere, bool has_barriers);

}  // namespace metalloid::engines::simd
