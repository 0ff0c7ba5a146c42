// Takes away the checks of accesses that turn out, once functions are inlined, to go to a plain place inside of one of
// the thread's own variables: no other thread sees those, and the variable can become a value again.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::checker {

void drop_private_checks(llvm::Module& module);

}  // namespace metalloid::checker
