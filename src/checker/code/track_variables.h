// Whether a thread reads variables of its own before it writes them: each variable that is not certainly written first
// gets a shadow with a byte for each of its bytes, which LLVM's optimisations dissolve where they can tell.
//
//   %x = load float, ptr %sum
// ->
//   %s = load i32, ptr %sum.written
//   call void @metalloid.check.expect(i1 (%s != 0), i32 uninitialised, ptr "sum")
//   %x = load float, ptr %sum
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::checker {

void track_variables(llvm::Function& function);

}  // namespace metalloid::checker
