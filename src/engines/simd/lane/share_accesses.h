// Accesses that a large program has once.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::engines::simd {

// A load of four elements of a variable that is no row for the lanes becomes a hundred instructions once it is widened,
// and a program that takes its arrays to pieces has hundreds of them: more than half of all code, for LLVM to select
// and to find registers for. Where they would make more than `most`, each kind of access is a function that stays a
// call, of its own for each stride, and so is there once:
//
//   %x = load <4 x i32>, ptr %a            ; %a strided by 256
// ->
//   %x = call regcall <4 x i32> @load(ptr %a)
//
// Rows, places anywhere and what all lanes share stay. `lane` is the program; what it calls is changed, too.
void share_accesses(llvm::Function& lane, unsigned most = 4000);
// Such a function: it is handed nothing but addresses and what is stored, and asks for no bounds.
bool is_shared_access(const llvm::Function& function);

}  // namespace metalloid::engines::simd
