// Between LLVM's text and bitcode: for people who look at code, and for tests of passes and engines that start from
// IR.
#pragma once

#include <string>
#include <string_view>

#include <llvm/IR/Module.h>

#include "ir/module.h"
#include "ir/specialise.h"
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
// What ir::specialise makes of the one kernel of an assembly text, as an engine gets it.
std::string print_specialised(std::string_view llvm_assembly, const std::string& kernel,
                              const SpecialiseOptions& options);
// The same of a library's kernel.
std::string print_specialised(std::string_view bitcode, const LibraryInfo& library, const KernelInfo& kernel,
                              const FunctionConstants& constants, const SpecialiseOptions& options);
// Replaces a kernel's module by what `change` makes of its text.
void rewrite(KernelModule& kernel, support::function_ref<std::string(const std::string&)> change);
// A declaration of each operation (operations.def), with its attributes.
std::string print_operations();

}  // namespace metalloid::ir
