// Which functions of a large kernel stay calls.
#pragma once

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

#include "support/function_ref.h"

namespace metalloid::ir {

using FunctionSet = llvm::SmallPtrSet<llvm::Function*, 8>;

// Functions that call one without a body that `is_wanted` says yes to, or lead to such a call.
FunctionSet functions_that_lead_to(llvm::Module& module, support::function_ref<bool(llvm::StringRef)> is_wanted);

// `order`: all functions with bodies, callees first; `kernel` is the last that counts. `recursive` ones stay whatever
// is chosen here, those that are `never_kept` do not. The kernel's size is counted as it is behind inlining and the
// unrolling of loops. If inlining everything fits the budget, only what is declared `noinline` stays. Else functions
// that are called from several places stay, the largest first and no more than it takes: those at which no threads
// meet, then (for engines pay more for waiting inside a call) those at which they do, at last even those declared
// `always_inline`. For a smaller size, large functions that work on values alone stay beyond that. If the budget is
// still not met, functions of a few instructions stay that are called from hundreds of places.
FunctionSet choose_calls(llvm::ArrayRef<llvm::Function*> order, llvm::Function& kernel, const FunctionSet& recursive,
                         const FunctionSet& never_kept, llvm::FunctionAnalysisManager& analyses);

// A cheap bound of the kernel's size with everything inlined, from code that nothing has simplified: below it
// choose_calls has nothing to choose.
bool may_be_large(llvm::ArrayRef<llvm::Function*> order, llvm::Function& kernel, const FunctionSet& recursive);

}  // namespace metalloid::ir
