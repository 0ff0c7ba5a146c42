// Copies of vectors become loads and stores, which later passes see through.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::engines::cuda {

//   memcpy(threadgroup p, device q, 16), both aligned to 16    ->    %v = load <4 x i32>, %q; store %v, %p
//
// Short ones between memories that do not go away.
void expand_copies(llvm::Function& function);

}  // namespace metalloid::engines::cuda
