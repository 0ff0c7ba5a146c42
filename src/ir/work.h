// Counts what a specialised kernel's code does (metalloid/work.h).
#pragma once

#include <llvm/IR/Function.h>

#include "metalloid/work.h"

namespace metalloid::ir {

Work work_of(llvm::Function& kernel);

}  // namespace metalloid::ir
