// Gives threadgroup variables their place in the memory that each running threadgroup gets.
#pragma once

#include <cstdint>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::cpu {

//   @tile = internal addrspace(3) global [256 x float]      %base = load ptr addrspace(3), state->threadgroup_memory
//   load float, @tile + i                                    load float, %base + offset of tile + i
//
// For the state in functions that stay calls see thread_state.h.
// Returns the bytes needed.
std::uint32_t lower_threadgroup_memory(llvm::Module& module, llvm::Function& entry);

}  // namespace metalloid::engines::cpu
