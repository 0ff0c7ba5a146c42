// Between LLVM's text and bitcode: for people who look at code, and for tests of passes and engines that start from
// IR.
#pragma once

#include <string>
#include <string_view>

#include <llvm/IR/Module.h>

namespace llvm {
class Module;
}

namespace metalloid::ir {

// Returns bitcode. Throws Error(compile_error) with LLVM's message.
std::string assemble(std::string_view llvm_assembly);

std::string disassemble(std::string_view bitcode);
std::string print(const llvm::Module& module);

}  // namespace metalloid::ir
