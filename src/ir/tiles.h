// The operands of operations on tiles, which operations.def explains, by their names.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Value.h>

#include "ir/operations.h"

namespace metalloid::ir {

struct Tile {
  llvm::Value *address, *columns, *rows;
  // Elements; of a held tile the fragment and the simdgroups.
  llvm::Value *across, *down;
  llvm::Value* first;  // in memory: elements behind the address
  TileElement element;
  bool is_held;
};

struct Matmul2d {
  Tile left, right, destination;
  llvm::Value *m, *n, *k;
  bool left_is_transposed, right_is_transposed, accumulates;
  Precision precision;
  unsigned simdgroups;  // 0: a thread
};
// `call` is of metalloid.matmul2d.*, or of what defines it in the library.
Matmul2d read_matmul2d(const llvm::CallBase& call);

}  // namespace metalloid::ir
