// Constants spread through calls, and what they make impossible goes: branches, calls, functions.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

void drop_dead_code(llvm::Module& module);

}  // namespace metalloid::ir
