// lower_tiles
//
//   metalloid.matmul2d.simdgroups.device.device.device(%a, ..., 4)   ->   code of tiles/device/tiles.cpp
//   metalloid.cooperative_tensor.store.simdgroups.held.device(...)
//
// Products of tiles of half, bfloat and float, which all simdgroups of a threadgroup make together: the operands pass
// through threadgroup memory in stages, and tensor cores (wgmma), of floats threads, read them there. Of GPUs of
// compute capability 9.0 only.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <cstdint>

#include "engines/cuda/code/target.h"
#include "engines/cuda/lanes/lane_order.h"
#include "ir/operations.h"

namespace metalloid::engines::cuda {

// Which operations on tiles the engine takes whole. `call` is of the operation, or of what defines it in the library.
bool is_tile_operation(const ir::Operation& operation, const llvm::CallBase& call, const Target& target);

// What the launch has to bring for them.
struct TileNeeds {
  std::uint32_t threads = 0;  // in a threadgroup, no more and no less; 0: there are no products
  std::uint32_t bytes = 0;    // of threadgroup memory, in front of arguments
};
// The module has the target's data layout.
TileNeeds lower_tiles(llvm::Module& module, LaneOrder order);

}  // namespace metalloid::engines::cuda
