// Errors that LLVM reports while it works on a module. Its own way is to print them and end the process.
#pragma once

#include <string>

#include <llvm/IR/LLVMContext.h>

namespace metalloid::ir {

// From now on the context keeps its errors.
void keep_diagnostics(llvm::LLVMContext& context);
// Throws Error(internal) with what was kept, if anything was.
void throw_kept_diagnostics(llvm::LLVMContext& context, const std::string& while_doing);

}  // namespace metalloid::ir
