// Around a fault of LLVM 22's code generator on processors with AVX-512.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::simd {

//   %y = load <32 x i32>, ptr %p           %y = load <32 x i32>, ptr %p
//   %b = and <32 x i32> %y, %c      ->     %z = freeze <32 x i32> %y
//                                          %b = and <32 x i32> %z, %c
//
// Bitwise operations become one vpternlogd. If one operand is a load and lanes keep the value of another, LLVM's
// pattern takes the table for other places of its operands: `C ? A : B` for `B ? C : A`. A load behind a freeze is no
// part of a pattern; what is left of it is joined later, by code that knows the places.
//
// Constants are loads, too, once code is made. Where an operation's result is kept by some lanes only, others keep one
// of its operands, and all is one register long, they become loads of the IR:
//
//   %c = and <16 x i32> %y, splat (i32 511)
//   %d = or <16 x i32> %x, %c
//   %e = select <16 x i1> %lanes, <16 x i32> %d, <16 x i32> %x
void keep_loads_apart(llvm::Module& module);

}  // namespace metalloid::engines::simd
