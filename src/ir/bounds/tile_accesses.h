// The memory that operations on tiles come to, for checks of bounds.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstrTypes.h>

#include "ir/bounds/accesses.h"

namespace metalloid::ir {

// Of an operation on tiles (ir/tiles.h), its tiles in memory, each from the first byte of elements that it reads or
// writes to the last: what lies between rows is not told apart. Makes code in front of the call; none of other calls.
llvm::SmallVector<Access, 3> tile_accesses(llvm::CallBase& call);

}  // namespace metalloid::ir
