// The way from a library to one kernel's module as every engine takes it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/IR/Module.h>

#include "ir/module.h"
#include "ir/passes/inline_functions.h"
#include "ir/passes/take_operations.h"
#include "metalloid/library.h"

namespace metalloid::ir {

// Code that watches a kernel: calls that a checker or a profiler puts in front of accesses, for example. It runs where
// the kernel still has every access of its source, one instruction each, with debug locations, in the order of the
// source: variables lie in memory, nothing was inlined, and no access was merged, moved, speculated or deleted. Only
// branches that function constants leave dead, and functions that nothing calls, are gone. Calls are direct. Library
// functions have no debug locations; what is inlined from them gets that of the call.
//
// The passes behind it treat what it adds as the source's own. Functions without a body that it calls keep the
// attributes it gives them: as long as they may write to some memory, no call of them is deleted or merged.
struct Instrumentation {
  std::string name;  // for messages and METALLOID_DUMP
  std::function<void(KernelModule&)> run;
  // Where the kernel is one flat function, or nearly, and nothing else was done to it. May be empty.
  std::function<void(KernelModule&)> run_inlined = {};
  // Functions without a body that it calls. An engine that takes the kernel lowers them.
  std::vector<std::string> operations;
};

struct SpecialiseOptions {
  InlinePolicy inlining = {};  // the engine's (Engine::inline_policy)
  OperationPolicy whole = {};  // the engine's (Engine::operation_policy); instrumentations want none
  std::optional<Instrumentation> instrumentation = {};
};

// Throws invalid_argument for bad function constants, unsupported for what no engine can run.
KernelModule specialise(std::string_view bitcode, const LibraryInfo& library, const KernelInfo& kernel,
                        const FunctionConstants& constants, const SpecialiseOptions& options = {});

// For pass lists: prints the module to standard error if METALLOID_DUMP is "all" or "after:<pass>" (several may be
// separated by commas).
void dump_after(std::string_view pass, const llvm::Module& module);

}  // namespace metalloid::ir
