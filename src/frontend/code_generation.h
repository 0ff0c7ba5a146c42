// Parsed declarations to LLVM IR, and what only IR knows of a kernel.
#pragma once

#include <memory>

#include "frontend/reflection.h"

namespace metalloid::frontend {

// Null (with diagnostics) if code generation failed. Fills in symbols, threadgroup memory, function constants used.
std::unique_ptr<llvm::Module> generate_code(Session& session, Reflection& reflection, llvm::LLVMContext& context);

}  // namespace metalloid::frontend
