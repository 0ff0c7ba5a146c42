// Between LLVM's text and bitcode: for people who look at code, and for tests of passes and engines that start from
// IR.
#pragma once

#include <string>
#include <string_view>

#include <llvm/IR/Module.h>

#include "ir/inline_functions.h"

namespace llvm {
class Module;
}

namespace metalloid::ir {

// Returns bitcode. Throws Error(compile_error) with LLVM's message.
std::string assemble(std::string_view llvm_assembly);

std::string disassemble(std::string_view bitcode);
std::string print(const llvm::Module& module);
// What ir::specialise makes of the one kernel of an assembly text, as an engine with that policy gets it.
std::string print_specialised(std::string_view llvm_assembly, const std::string& kernel, const InlinePolicy& policy);

}  // namespace metalloid::ir
