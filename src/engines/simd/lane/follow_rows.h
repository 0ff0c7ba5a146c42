// Programs that divide the index of their thread, as where an array is used again and again, or rows and columns come
// out of one index.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::engines::simd {

//   %r = urem i32 %i, %n                        ; %i grows by one from lane to lane, %n is the same in all
//   ...
// ->
//   %q0 = udiv i32 %i0, %n                      ; of lane 0
//   %r0 = urem i32 %i0, %n
//   br i1 (%n - %r0 > 31), %row, %general       ; uniform
// row:
//   %r = add i32 %r0, %lane                     ; and the quotient is %q0
//   ...
// general:
//   %r = urem i32 %i, %n
//   ...
//
// What follows is there twice. Unless the row of lanes goes over a multiple of %n, they divide once, and what they
// reach with the remainder is a row of memory, with the quotient one place. Shifts and masks by constants are
// divisions, too (`i & -128` is the quotient times 128), and so is what indices are divided by that grow by more than
// one. For lanes that are 32 neighbours of a row. Not in loops, nor where much follows.
void follow_rows(llvm::Function& lane);

}  // namespace metalloid::engines::simd
