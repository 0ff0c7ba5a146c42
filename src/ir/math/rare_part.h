// A branch around what few lanes need.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>

#include "ir/math/expressions.h"

namespace metalloid::ir::math {

// If any lane is `rare`, calls the function (ModuleFunctions::get_rare) with the arguments and the usual results, and
// goes on with what it returns. The builder goes on behind the branch.
llvm::SmallVector<llvm::Value*, 2> with_rare_part(llvm::ArrayRef<llvm::Value*> usual, Mask rare,
                                                  llvm::Function& function, llvm::ArrayRef<llvm::Value*> arguments);
Floats with_rare_part(Floats usual, Mask rare, llvm::Function& function, llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace metalloid::ir::math
