// Loads of pieces of a row become loads of all of it, and permutations.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::simd {

//   %0 = load <1 x i16>, ptr %row                                      blocks of 18 bytes: a scale and 16 bytes,
//   %1 = load <1 x i16>, ptr (%row + 18)                               of which a vector takes the scales
//   ...                                                                and others the bytes by words
//   %15 = load <1 x i16>, ptr (%row + 270)
//   %scales = %0, ..., %15, put together by shuffles
// ->
//   %a = load <32 x i16>, ptr %row
//   %b = load <32 x i16>, ptr (%row + 64)
//   ...
//   %scales = shufflevector <32 x i16> %a, <32 x i16> %b, ...          and so on
//
// Widening loads what lanes want of a structure by itself, element by element if elements are small and apart. All that
// comes from one beginning by constants is looked at together here:
//
//   1. Loads of up to 8 bytes in a block are sorted by what their addresses are constants away from. A write ends what
//      belongs together.
//   2. For every vector that shuffles make of them it is known which byte of memory each of its bytes is.
//   3. Vectors that others than such shuffles use are made anew: of vectors of 64 bytes, each from the lowest place
//      that those before do not have, by permutations of two at a time.
//   4. That is done where fewer instructions remain.
//
// Valid because bytes between two loads that are less than a page apart are there if these are, and nothing is read
// before the first or behind the last byte that was read anyway. Needs permutations of any 16 bits of two vectors.
void permute_loads(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace metalloid::engines::simd
