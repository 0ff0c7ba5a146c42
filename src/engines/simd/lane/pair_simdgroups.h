// Two simdgroups of a threadgroup in one program.
#pragma once

#include <llvm/IR/Function.h>

#include <string_view>

namespace metalloid::engines::simd {

// Metadata of checks of bounds (ir/bounds/check_bounds.h) whose threads are those of the second simdgroup.
inline constexpr std::string_view second_simdgroup_name = "metalloid.second_simdgroup";

//   void row(state, first, x, y, z)                         ; lane_positions.h
//     for (block = lane; block < blocks; block += 32)
//       prepare part of a vector, which is the same for all simdgroups
//       multiply it with the simdgroup's rows of a matrix
//     store the sums
// ->
//   void pair(state, first, x, y, z, first', x', y', z', ptr fails)
//     for (block = lane; block < blocks; block += 32)
//       prepare part of the vector
//       multiply it with the first simdgroup's rows, and with the second one's
//     store the first simdgroup's sums, then the second one's
//
// What depends on which simdgroup it is is there twice, in one order of blocks. Where a branch depends on it, and the
// two would go different ways, the program says so in `fails` and ends: it has done nothing then that others could see,
// for all that writes is behind the loops, and the simdgroups run one by one. Such branches must be decided when a loop
// begins. It pays where a good part of the loops' work is common, as in products of matrices with vectors: to sort the
// vector for 32 lanes was a quarter of a product with 4-bit weights, of four rows in a simdgroup.
//
// Returns null where it does not pay, or some branch is decided late. Of programs without threadgroup barriers.
llvm::Function* pair_simdgroups(llvm::Function& row);

}  // namespace metalloid::engines::simd
