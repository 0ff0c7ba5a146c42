// The last step before an engine: of each check it finds out what memory its address comes from (an argument, a
// variable), how large that is, and where in the source it stands; and it checks a thread's own arrays in place.
#pragma once

#include "ir/module.h"

namespace metalloid::checker {

// Whether the module has checks.
bool is_checked(const llvm::Module& module);
void resolve(ir::KernelModule& kernel);

}  // namespace metalloid::checker
