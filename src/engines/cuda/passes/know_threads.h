// know_threads
//
//   %threads = load i32, %head + threads_per_threadgroup     ->     256
//
// Code for threadgroups of one size alone: distances of accesses in loops are constants then, loops over simdgroups
// have a known number of turns, and in a row of threads each lies where its x says.
#pragma once

#include <llvm/IR/Module.h>

#include <array>
#include <cstdint>

namespace metalloid::engines::cuda {

// Of a function whose first parameter is the launch's parameters.
void know_threads(llvm::Function& function, const std::array<std::uint32_t, 3>& threads);

// Whether the kernel would gain by that: a loop does something with the size. Of a module that is optimised.
bool counts_threads(llvm::Module& module);

}  // namespace metalloid::engines::cuda
