// Variables that stand outside of functions and still belong to one thread each:
//
//   @position = external global <3 x i32>, !metalloid.thread !0      ->   %position = alloca <3 x i32>
//   define void @kernel(..., <3 x i32> %p) {                               store %p, %position
//     store %p, @position ...                                              ... load %position
//
// Behind inlining they become the kernel's own; functions that stay calls get the address as a parameter.
#pragma once

#include <llvm/IR/GlobalVariable.h>

#include "ir/module.h"

namespace metalloid::ir {

void mark_thread_variable(llvm::GlobalVariable& variable);
bool is_thread_variable(const llvm::GlobalVariable& variable);

// Throws Error(unsupported) where a function that is called through a pointer uses one.
void place_thread_variables(KernelModule& kernel);

}  // namespace metalloid::ir
