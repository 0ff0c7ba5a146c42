// The entry point of a widened kernel.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::simd {

//   void run_simdgroup(state, first)              one simdgroup of a threadgroup, by how its threads lie in rows
//     if (32 threads left, in one row) row(state, first)
//     else if (32 threads left, in two rows of 16) half_rows(state, first)
//     else anywhere(state, first, min(threads left, 32))
//
//   void metalloid_run_threadgroup(state)         kernels without barriers
//     for (first = 0; first < threads; first += 32) run_simdgroup(state, first)
//
// Kernels with barriers have run_simdgroup itself for an entry point (simdgroup_abi.h).
struct Simdgroups {
  llvm::Function* row;
  llvm::Function* half_rows;  // may be null
  llvm::Function* anywhere;
};
void run_simdgroups(llvm::Module& module, const Simdgroups& simdgroups, bool has_barriers);

}  // namespace metalloid::engines::simd
