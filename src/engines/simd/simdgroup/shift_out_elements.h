// Members of small structures leave vectors by shifts in place of shuffles.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::simd {

//   %y = shufflevector <32 x i16> %of_8_lanes, poison, <8 x i32> <i32 1, i32 5, i32 9, ...>      the ys of short4
// ->
//   %lanes = bitcast <32 x i16> %of_8_lanes to <8 x i64>
//   %shifted = lshr <8 x i64> %lanes, splat (i64 16)
//   %y = trunc <8 x i64> %shifted to <8 x i16>
//
// Eight lanes at a time, and once for lanes that get the same. Elements of 8 and 16 bits, each fourth or eighth.
// Without permutations of any 16 bits LLVM puts such a shuffle together from bytes of each register, in 1.5 times the
// instructions, and takes five times as long to find them (84 ms for the four of 32 half4).
void shift_out_elements(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace metalloid::engines::simd
