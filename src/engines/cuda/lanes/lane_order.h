// Which lane of a warp is which lane of a simdgroup.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>

namespace metalloid::engines::cuda {

enum class LaneOrder : std::uint8_t {
  plain,  // the same
  // Metal's lane, bits b4 to b0, is the warp's b4 b2 b1 b3 b0: then a matrix of 8x8 lies in a warp as Metal says and as
  // tensor cores want it (row: the upper three bits; columns: the lower two, a pair each).
  of_matrices,
};

// i32, 0 to 31. Linear in the bits: distances for XOR go the same way.
llvm::Value* hardware_lane(llvm::IRBuilderBase& builder, llvm::Value* metals, LaneOrder order);
llvm::Value* metals_lane(llvm::IRBuilderBase& builder, llvm::Value* hardwares, LaneOrder order);
// i32: a bit for each lane, from the hardware's place to Metal's.
llvm::Value* metals_mask(llvm::IRBuilderBase& builder, llvm::Value* hardwares, LaneOrder order);

}  // namespace metalloid::engines::cuda
