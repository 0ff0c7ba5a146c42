// Names of a kernel's functions and variables that no function of a C library has: `constant float sinf[4]` is called
// `sinf` in the code too, and must not be what the code generator calls. Other names are left.
#pragma once

#include <string>

#include "ir/module.h"

namespace metalloid::ir {

// Renames what the module defines and its function constants; returns the library with its symbols as they are now.
LibraryInfo make_names_private(KernelModule& kernel, const LibraryInfo& library);

// As the source writes it, for messages.
std::string source_name(const llvm::GlobalValue& value);

}  // namespace metalloid::ir
