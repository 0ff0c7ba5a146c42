// The way from a library to one kernel's module as every engine takes it.
#pragma once

#include <string>
#include <string_view>

#include <llvm/IR/Module.h>

#include "ir/inline_functions.h"
#include "ir/module.h"
#include "metalloid/library.h"

namespace metalloid::ir {

// `policy` is the engine's (Engine::inline_policy). Throws invalid_argument for bad function constants, unsupported for
// what no engine can run.
KernelModule specialise(std::string_view bitcode, const LibraryInfo& library, const KernelInfo& kernel,
                        const FunctionConstants& constants, const InlinePolicy& policy = {});

// For pass lists: prints the module to standard error if METALLOID_DUMP is "all" or "after:<pass>" (several may be
// separated by commas).
void dump_after(std::string_view pass, const llvm::Module& module);

}  // namespace metalloid::ir
