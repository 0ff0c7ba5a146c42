// Inlines every call that is not recursive, so that a kernel becomes one flat function.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

// Callees first: each function is inlined into and simplified before its callers copy it, which keeps deep template
// libraries cheap. Functions of a call cycle, and those called through pointers, stay.
void inline_functions(llvm::Module& module);

}  // namespace metalloid::ir
