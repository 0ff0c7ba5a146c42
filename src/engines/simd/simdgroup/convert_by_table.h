// Small numbers become floats by a table.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::simd {

//   %low = and <32 x i32> %x, splat (i32 15)
//   %float = uitofp <32 x i32> %low to <32 x float>
// ->
//   %float = two permutations of <float 0.0, float 1.0, ..., float 15.0>, by %x's halves
//
// A vector of AVX-512 holds the 16 numbers that 4 bits make, and a permutation looks at no other bits of its index: one
// instruction in place of two. Weights of 4 bits are converted by the million.
void convert_by_table(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace metalloid::engines::simd
