// The entry point of a widened kernel.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::simd {

//   void run_simdgroup(state, first)              one simdgroup of a threadgroup, by how its threads lie in rows
//     if (the threadgroup is one thread) alone(state, first)
//     else if (32 threads left, in one row) row(state, first, x, y, z)
//     else if (32 threads left, in two rows of 16) half_rows(state, first)
//     else if (32 threads left, in one column) column(state, first)
//     else anywhere(state, first, min(threads left, 32))
//
//   void metalloid_run_threadgroup(state)         kernels without barriers
//     if (the threadgroup is one thread) return alone(state, 0)
//     if (simdgroups are in one row each)
//       for (first = 0; first + 32 <= threads; first += 32) row(state, first, x, y, z)
//       or, of two simdgroups at a time (lane/pair_simdgroups.h):
//         if (32 more are left and pair(state, first, x, y, z, first + 32, x', y', z') has not failed) first += 32
//         else row(state, first, x, y, z)
//     for (; first < threads; first += 32) run_simdgroup(state, first)
//
// The loop over rows counts positions instead of dividing, and holds the row's code itself, so that what all simdgroups
// have in common is computed once. Kernels with barriers have run_simdgroup for an entry point (simdgroup_abi.h).
struct Simdgroups {
  unsigned width;  // lanes in step
  llvm::Function* row;
  llvm::Function* pair;       // of rows; may be null
  llvm::Function* half_rows;  // may be null
  llvm::Function* column;     // may be null
  llvm::Function* anywhere;   // null: all are rows
  llvm::Function* alone;      // may be null
};
// Returns the entry point.
llvm::Function* run_simdgroups(llvm::Module& module, const Simdgroups& simdgroups, bool has_barriers);

}  // namespace metalloid::engines::simd
