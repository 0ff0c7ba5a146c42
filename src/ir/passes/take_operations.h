// Whole operations (operations.def) for engines that have something for them: matrices in memory, tiles.
#pragma once

#include <functional>
#include <string_view>

#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include "ir/operations.h"

namespace metalloid::ir {

// Which calls of whole operations an engine carries out itself. The operands are those of the operation; sizes of the
// source's types and flags are constants. Empty: none.
using OperationPolicy = std::function<bool(const Operation& operation, const llvm::CallBase& call)>;

// Says that a function defines a whole operation, which is named by the part of its name before the types.
// `simdgroups`: of one with a scope.
void mark_operation(llvm::Function& function, std::string_view spelling);
void mark_operation(llvm::Function& function, std::string_view spelling, int simdgroups);
// Nothing for other functions.
std::string_view defined_operation(const llvm::Function& function);

// Calls that the engine wants become calls of the operation. All others stay what they are: of a function of the
// library like any.
void take_operations(llvm::Module& module, const OperationPolicy& policy);

}  // namespace metalloid::ir
