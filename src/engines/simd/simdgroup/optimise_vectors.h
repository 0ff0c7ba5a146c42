// LLVM's optimisation of widened code.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::simd {

void optimise_vectors(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace metalloid::engines::simd
