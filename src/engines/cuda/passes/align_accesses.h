// Accesses by alignment: one that is not as aligned as it claims is an error of the GPU that takes the process's
// context away, while Metal's kernels read words from anywhere.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::engines::cuda {

//   %v = load i32, ptr %p, align 4    ->    if (%p is a multiple of 4) %v = load i32, ptr %p, align 4
//                                           else %v = load i32, ptr %p, align 1, which becomes several
//
// where nobody knows whether it is. Stores of three-element vectors, which Clang makes four of, leave the fourth alone.
void align_accesses(llvm::Function& function);

}  // namespace metalloid::engines::cuda
