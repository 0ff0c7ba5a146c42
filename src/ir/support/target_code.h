// From a module to a target's code: what all of LLVM's code generators have in common.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace metalloid::ir {

// The module, and each function that it defines, become the machine's.
void set_target(llvm::Module& module, const llvm::TargetMachine& machine);

// Throws what the code generator says against the code; `what` names it. Its pass of the name `without` is left out.
std::string write_code(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind,
                       const std::string& what, llvm::StringRef without = {});

}  // namespace metalloid::ir
