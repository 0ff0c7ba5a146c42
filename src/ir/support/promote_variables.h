// Variables that become values quickly.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::ir {

// Makes values of variables that are accessed in few blocks, and written before they are read. LLVM's own promotion
// goes through all blocks below a write, for each variable: in a program of thousands of both that takes seconds. This
// goes from each read to the writes in front of it. A constant that all begins with is written where it is first
// wanted.
void promote_short_variables(llvm::Function& function);

}  // namespace metalloid::ir
