// Accesses stay inside of the memory that the host bound and inside of variables: what lies outside is not touched, and
// the dispatch fails. One pass for every engine: it asks the engine where arguments come from (kernel_memory.h), and
// the engine says what an access outside does (lower_bounds_checks.h).
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

#include <string_view>

#include "ir/bounds/kernel_memory.h"
#include "metalloid/reflection.h"

namespace metalloid::ir {

//   %v = load float, %x + %i * 4    ->    call metalloid_check_bounds(%i * 4, 4, %bytes.of.x, ...)
//                                         %v = load float, %x + %i * 4
//
// Roots (support/pointer_roots.h) are the kernel's arguments, variables and constants; addresses that come out of
// memory have none and are not checked.
//
// What can be proven needs no check: constants, ranges that ScalarEvolution knows of indices, and what loops' counters
// are in the turns that come to the access. Accesses of one block a constant apart have one check of all their bytes,
// at the first of them; so has what is sure to follow it elsewhere. A check is as early in its block as its operands,
// so that several are side by side: results of a dispatch that fails mean nothing, and the access was sure to come.
void check_bounds(llvm::Function& function, const KernelInfo& info, KernelMemory& memory,
                  llvm::FunctionAnalysisManager& analyses);

// void (i64 offset, i64 bytes, i64 available, ptr front, ptr what, ptr first, ptr last): on the way to what the engine
// makes of it. Where it stands how many bytes are in front of what offsets count from, which is seldom asked; texts of
// the memory and of the accesses at both ends:
//   "argument 3", by place among the kernel's; "variable NAME", "threadgroup NAME", "constant NAME"
//   "r4 blur.metal:12" (accesses.h)
inline constexpr std::string_view check_bounds_name = "metalloid_check_bounds";

// The check that an instruction is, or null.
llvm::CallInst* as_bounds_check(llvm::Instruction& instruction);

}  // namespace metalloid::ir
