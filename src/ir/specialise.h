// The way from a library to one kernel's module as every engine takes it.
#pragma once

#include <string_view>

#include <llvm/IR/Module.h>

#include "ir/module.h"
#include "metalloid/library.h"

namespace metalloid::ir {

// Throws invalid_argument for bad function constants.
KernelModule specialise(std::string_view bitcode, const LibraryInfo& library, const KernelInfo& kernel,
                        const FunctionConstants& constants);

// For pass lists: prints the module to standard error if METALLOID_DUMP is "all" or "after:<pass>" (several may be
// separated by commas).
void dump_after(std::string_view pass, const llvm::Module& module);

}  // namespace metalloid::ir
