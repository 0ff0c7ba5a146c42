// Calls that cost less.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::simd {

//   %a = call <16 x i32> @sum(<16 x i32> %x, <16 x i32> %y, ptr %state, i32 %first_thread, i32 65535)
//   %b = call <16 x i32> @product(<16 x i32> %a, <16 x i32> %z, ptr %state, i32 %first_thread, i32 65535)
// ->
//   %a = add <16 x i32> %x, %y
//   %b = call <16 x i32> @product(<16 x i32> %a, <16 x i32> %z)
//
// Functions that stay calls are handed where the simdgroup is and which lanes take part, and most never ask. And no
// vector stays in a register over a call: what goes in and comes out does so through memory. A function that computes
// no more than that is better off inlined, and its caller is shorter for LLVM, too, which gives out registers.
void shorten_calls(llvm::Module& module);

}  // namespace metalloid::engines::simd
