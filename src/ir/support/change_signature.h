// Functions of another type in the place of functions.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>

namespace metalloid::ir {

// A function of that type which takes name, attributes, debug information and body of `old`. The body still uses old's
// arguments; callers still call `old`, which is to be erased once that has changed.
llvm::Function& take_over(llvm::Function& old, llvm::FunctionType* type);

// The same with parameters behind those that there are, which the body uses from now on.
llvm::Function& widen(llvm::Function& old, llvm::ArrayRef<llvm::Type*> more);

}  // namespace metalloid::ir
