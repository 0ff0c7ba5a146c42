// Metal's constant memory has no space of its own on the GPU: what it leads to may be a buffer or come with the launch.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::cuda {

//   load float, ptr addrspace(2) %p    ->    load float, ptr %p
//
// Constants at program scope become global memory. All functions and types that name the space are made anew.
void merge_constant_space(llvm::Module& module);

}  // namespace metalloid::engines::cuda
