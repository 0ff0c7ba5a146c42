// The shared clean-up after inlining: scalars in registers, dead code and unused definitions gone.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

void simplify(llvm::Module& module);

}  // namespace metalloid::ir
