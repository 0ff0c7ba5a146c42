// Variables at program scope that stand for arguments (`uint3 position [[thread_position_in_grid]];`): every kernel
// that uses one, however deep, gets a parameter more, and stores it into the variable when it starts.
// ir/passes/thread_variables.h then gives each thread a variable of its own.
#pragma once

#include <vector>

#include <llvm/IR/GlobalVariable.h>

#include "metalloid/reflection.h"

namespace metalloid::frontend {

struct ProgramArgument {
  llvm::GlobalVariable* variable;
  ArgumentInfo info;
};

// Appends `arguments` to the kernel's parameters and arguments. Returns the kernel's new function, which has the name
// of the old one; the old one is gone.
llvm::Function& append_program_arguments(llvm::Function& function, KernelInfo& kernel,
                                         const std::vector<ProgramArgument>& arguments);

}  // namespace metalloid::frontend
