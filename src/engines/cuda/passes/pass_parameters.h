// Hands what the launch brings to functions that stay calls, which are those that call themselves.
#pragma once

#include <llvm/IR/Module.h>

#include <vector>

#include "engines/cuda/passes/lower_arguments.h"

namespace metalloid::engines::cuda {

//   define i32 @sum(i32 %n)    ->    define i32 @sum(i32 %n, ptr %parameters, i64 %stack_end)
//
// The kernel says where the stack ends: recursion_stack_bytes below its own variables (PTX ISA, stacksave).
//
// The kernel's entry and one for each function. These end threads that fail, whatever was known of them before.
std::vector<Entry> pass_parameters(llvm::Module& module, const Entry& entry);

}  // namespace metalloid::engines::cuda
