// The state of the running threadgroup in functions that stay calls.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::cpu {

enum class StateUsers : bool { those_that_need_it, all };

// Functions that use threadgroup variables or meetings (or all that have bodies), and those that lead to them, get the
// state as a parameter. `entry` has it as its first.
void pass_state_down(llvm::Module& module, llvm::Function& entry, StateUsers users);

// The state in `entry` or in another function (state_in_call). Functions that others know by their addresses look it up
// at their start.
llvm::Value* state_in(llvm::Function& function, llvm::Function& entry);
llvm::Value* state_in_call(llvm::Function& function);

}  // namespace metalloid::engines::cpu
