// Inlines calls, callees first, up to where a call is the better choice.
#pragma once

#include <llvm/IR/Module.h>

#include "ir/module.h"

namespace metalloid::ir {

// What an engine wants of the calls in the kernels that it takes: part of the contract of the IR (module.h). Functions
// that stay calls are internal, marked `noinline` and, where threads may meet in them, `convergent`.
struct InlinePolicy {
  // One flat function: every call is inlined, `noinline` or not, but for those of a call cycle and those through
  // pointers.
  bool everything = false;
  // `noinline` says nothing. What would be too large stays calls all the same.
  bool even_noinline = false;
  // Functions that lead to threadgroup barriers or to operations on simdgroup matrices are inlined whatever they cost.
  bool around_barriers = false;
};

// Each function is inlined into and simplified before its callers copy it, which keeps deep template libraries cheap.
// Functions declared `noinline`, and in large kernels those that inline_choice.h names, stay; they are marked
// `noinline` behind this pass. Functions of a call cycle, and those called through pointers, always stay.
void inline_functions(KernelModule& kernel, const InlinePolicy& policy);

}  // namespace metalloid::ir
