// Parsed declarations to LLVM IR, and what only IR knows of a kernel.
#pragma once

#include <memory>

#include "frontend/reflection/kernel_instantiations.h"
#include "frontend/reflection/reflection.h"

namespace metalloid::frontend {

// Null (with diagnostics) if code generation failed. Fills in symbols, threadgroup memory, function constants used, of
// the kernels that code is wanted of.
std::unique_ptr<llvm::Module> generate_code(Session& session, Reflection& reflection,
                                            const KernelInstantiations& instantiations, llvm::LLVMContext& context);

}  // namespace metalloid::frontend
