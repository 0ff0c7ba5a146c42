// Vectors that stay where they are computed.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::simd {

//   %x = shufflevector <32 x float> %a, <32 x float> %b, ...
//   br i1 %check, label %inside, label %maybe.outside          ; both lead to places that want %x
// ->
//   %x = shufflevector ...
//   call void (...) @llvm.fake.use(<32 x float> %x)            ; no instruction
//   br i1 %check, ...
//
// LLVM's code generator moves what a block computes to the branch behind which all uses lie, one instruction at a time
// and without what it is computed from, if that are loads. 32 vectors sorted out of 64 are 64 then that have no
// register until there: in a product with weights of 4 bits, half of all that went to the stack. Vectors that only code
// wants that seldom runs may move.
void hold_vectors(llvm::Module& module);

}  // namespace metalloid::engines::simd
