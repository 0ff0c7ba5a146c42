// Replaces function constants by their values, so that what depends on them folds away.
#pragma once

#include "ir/module.h"
#include "metalloid/library.h"

namespace metalloid::ir {

// 1. Each function constant becomes a constant with the given value. One that was not set stays a declaration, or is
//    zero where values are lenient, and is_function_constant_defined() of it is false.
// 2. Constants derived from them are evaluated (@llvm.global_ctors disappears).
// 3. Arguments whose gate turned out false, or has no value, become inactive in `kernel.info`.
void fold_function_constants(KernelModule& kernel, const LibraryInfo& library, const FunctionConstants& values);

// Throws invalid_argument if the code, with its dead branches gone, still reads a function constant without a value.
void require_function_constants(const KernelModule& kernel, const LibraryInfo& library);

// Throws invalid_argument for a constant that the library does not have or whose value does not fit its type.
void check_function_constants(const LibraryInfo& library, const FunctionConstants& values);

}  // namespace metalloid::ir
