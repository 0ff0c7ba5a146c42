// Follows what is undefined from where it begins, a variable that nobody wrote or a division by zero, to where it is
// used, as MemorySanitizer does. Runs where the kernel is one flat function.
//
//  1. What may be undefined at all, by a fixed point over values and variables: all else costs nothing.
//  2. Beside each of these variables lies a second one with its undefined bits, and each of these values has its own
//     (undefined_bits.h), with the number of the place where they come from. Copies, arithmetic and structs carry both
//     along. LLVM dissolves them where it can tell.
//  3. A use asks for them: a branch, an address, a value that leaves the thread's variables (to device or threadgroup
//     memory, another lane, or a function that stays a call).
//
//   %x = load float, ptr %sum                        %x.bits = load i32, ptr %sum.bits
//   %y = fadd float %x, 1.0                     ->   %y.bits = sext (%x.bits != 0)
//   store float %y, ptr addrspace(1) %out            call void @metalloid.check.used(i1 (%y.bits == 0), i32 1)
//
// Gaps of structs and elements that nobody reads may be copied about. Where an address may lead to a variable or to
// other memory, or is kept in memory itself, the variable counts as written.
//
// A division whose result certainly reaches a use stays as it is: it needs no more than to be asked itself.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::checker {

// `tells`: also where things come from.
void follow_undefined(llvm::Module& module, bool tells);

}  // namespace metalloid::checker
