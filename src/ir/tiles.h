// The operands of operations on tiles, which operations.def explains, by their names.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Value.h>

#include <cstdint>
#include <optional>

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

// Of a held one: whether a thread has it all for itself.
bool is_of_thread(const Tile& tile);

struct Matmul2d {
  Tile left, right, destination;
  llvm::Value *m, *n, *k;
  bool left_is_transposed, right_is_transposed, accumulates;
  Precision precision;
  unsigned simdgroups;  // 0: a thread
};
// `call` is of metalloid.matmul2d.*, or of what defines it in the library.
Matmul2d read_matmul2d(const llvm::CallBase& call);
// Of calls of metalloid.matmul2d.* only.
std::optional<Matmul2d> as_product(const llvm::CallBase& call);

// A load or store of a cooperative tensor.
struct TileTransfer {
  Tile held, memory;
  bool is_load;
};
TileTransfer read_transfer(const llvm::CallBase& call, bool is_load);
// Of calls of metalloid.cooperative_tensor.load.* and .store.* only.
std::optional<TileTransfer> as_transfer(const llvm::CallBase& call);

// The tiles of an operation, whichever of these it is; none of other calls.
llvm::SmallVector<Tile, 3> tiles_of(const llvm::CallBase& call);

}  // namespace metalloid::ir
