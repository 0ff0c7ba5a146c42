// Moves a thread's variables from the stack to memory that the engine brings.
#pragma once

#include <cstdint>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::cpu {

//   %array = alloca [1000 x float]      %base = load ptr, state->private_memory
//   load float, %array + i               load float, %base + offset of array + i
//
// Threads that meet keep all their variables there: threads take turns on one stack. Where threads run one after the
// other, the stack will do unless the variables are large. Runs behind all optimisation, when only variables that
// need memory are left. Returns the bytes that a thread needs.
std::uint32_t lower_private_memory(llvm::Module& module, llvm::Function& entry, bool threads_meet);

// Every thread's memory starts at a multiple of this.
inline constexpr std::uint32_t private_memory_alignment = 128;

}  // namespace metalloid::engines::cpu
