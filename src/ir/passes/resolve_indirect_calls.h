// A call through a pointer becomes a choice between the functions of the source that it can mean, and pointers to
// functions become small numbers:
//
//   call %p(x)      ->   switch %p: 16 -> call @f(x); 32 -> call @g(x); else -> the kernel crashes
//   store ptr @f    ->   store ptr 16
//
// Then every call says whom it calls, so that calls can be inlined and threads can meet in them; and no address of code
// is in a kernel, so a pointer made of any other number leads nowhere.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

// Functions whose addresses are taken are those of the kernel; `llvm.` variables are left alone.
void resolve_indirect_calls(llvm::Module& module);

}  // namespace metalloid::ir
