// Reports of the first of some lanes whose access lies outside of its memory.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::simd {

// A function of its own for each form of operands, so that a check costs the program that has it one call. `operands`,
// of which the function takes as many: state, number of the first lane's thread, bits of the lanes, and those of a
// check (cpu_shared/passes/report_bounds.h), which are vectors where lanes differ. It does not return.
llvm::Function& first_lane_reporter(llvm::Module& module, llvm::ArrayRef<llvm::Value*> operands);

}  // namespace metalloid::engines::simd
