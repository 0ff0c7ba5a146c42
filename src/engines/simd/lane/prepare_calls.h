// Functions of a lane's program that stay calls, made ready for widening.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace metalloid::engines::simd {

// All that a program leads to but itself.
std::vector<llvm::Function*> functions_that_stay(llvm::Function& program);

// Structures are handed on in registers as far as that goes. Of a kernel, whose own parameters stay as they are:
//
//   call void @add(ptr sret(%Wide) %r, ptr byval(%Wide) %a)  ->  %r = call %Wide @add(i32 %a.0, i32 %a.1, ...)
void hand_on_structures(llvm::Module& module, llvm::Function& kernel);

// All functions of a lane's program get the index of lane 0's thread in its threadgroup, which its second parameter is.
void pass_first_thread(llvm::Module& module, llvm::Function& lane);
// It, in one of these.
llvm::Value* first_thread_in_call(llvm::Function& function);

}  // namespace metalloid::engines::simd
