// Between LLVM's text and bitcode: for people who look at code, and for tests of passes and engines that start from
// IR.
#pragma once

#include <string>
#include <string_view>

#include <llvm/IR/Module.h>

#include "ir/inline_functions.h"
#include "ir/module.h"
#include "support/function_ref.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace metalloid::ir {

// Returns bitcode. Throws Error(compile_error) with LLVM's message.
std::string assemble(std::string_view llvm_assembly);

// For tests of single passes: what `passes` make of one kernel of an assembly text, printed once LLVM's verifier has
// found no fault with it.
std::string print_transformed(std::string_view llvm_assembly, const KernelInfo& kernel,
                              support::function_ref<void(KernelModule&, llvm::Function& kernel)> passes);

std::string disassemble(std::string_view bitcode);
std::string print(const llvm::Module& module);
// What ir::specialise makes of the one kernel of an assembly text, as an engine with that policy gets it.
std::string print_specialised(std::string_view llvm_assembly, const std::string& kernel, const InlinePolicy& policy);

}  // namespace metalloid::ir
