// What a kernel may call: its own functions, the operations of operations.def, and those intrinsics of LLVM that
// compute from values and the kernel's memory. Nothing else of LLVM, of this process or of its operating system.
//
// The front end refuses the words by which a source would ask for more, where they stand. This is the closed list
// behind it, on what was really made of the source.
#pragma once

#include <span>
#include <string>

#include "ir/module.h"

namespace metalloid::ir {

// Throws Error(unsupported) with the line for whatever neither the list nor `more`, the operations of an
// instrumentation (specialise.h), has.
void check_operations(const KernelModule& kernel, std::span<const std::string> more = {});
// The same for other code that runs; messages begin with `subject`.
void check_operations(const llvm::Module& module, const std::string& subject);

}  // namespace metalloid::ir
