// Operations on tiles: once for a simdgroup, or for each thread that has tiles for itself.
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>

#include "engines/simd/tiles/tile_calls.h"
#include "engines/simd/vectors/each_lane.h"
#include "engines/simd/widening/widening.h"
#include "ir/tiles.h"

namespace metalloid::engines::simd {

using llvm::Value;

// False: not one of them.
bool Widening::widen_tile_operation(llvm::CallInst& call) {
  TileCall made;
  made.tiles = ir::tiles_of(call);
  if (made.tiles.empty()) return false;
  bool is_of_threads = false;
  if (const auto product = ir::as_product(call)) {
    made.name = multiply_tiles_name;
    made.numbers = {product->m, product->n, product->k};
    made.flags = {product->left_is_transposed ? 1u : 0u, product->right_is_transposed ? 1u : 0u,
                  product->accumulates ? 1u : 0u, static_cast<std::uint32_t>(product->precision), product->simdgroups};
    is_of_threads = product->simdgroups == 0;
  } else {
    made.name = ir::as_transfer(call)->is_load ? load_tile_name : store_tile_name;
    is_of_threads = ir::is_of_thread(made.tiles.front());
  }
  if (is_of_threads) {
    call_in_threads(made);
  } else {
    call_together(made);
  }
  return true;
}

// All lanes have the same operands, whether that is known or not.
void Widening::call_together(const TileCall& call) {
  const auto common = [&](Value* value) -> Value* {
    if (shapes_.is_uniform(*value)) return scalar_of(value);
    Value* lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits_of(lanes_), builder_.getTrue());
    return element_of(value, 0, lane);
  };
  llvm::SmallVector<Value*, 40> operands = {first_thread_};
  for (const ir::Tile& tile : call.tiles) {
    operands.push_back(tile.is_held ? scalar_of(tile.address) : common(tile.address));
    for (Value* value : {tile.columns, tile.rows, tile.across, tile.down}) operands.push_back(common(value));
    const auto distance = static_cast<std::uint64_t>(shapes_.of(*tile.address).stride);
    operands.push_back(tile.is_held ? builder_.getInt64(distance) : common(tile.first));
    operands.push_back(builder_.getInt32(static_cast<std::uint32_t>(tile.element)));
    operands.push_back(builder_.getInt32(tile.is_held ? 1 : 0));
  }
  for (Value* value : call.numbers) operands.push_back(common(value));
  call_tile_code(call, operands);
}

// What threads hold for themselves is memory like any.
void Widening::call_in_threads(const TileCall& call) {
  llvm::DenseMap<Value*, Value*> memory;
  const auto keep = [&](Value* value) {
    if (!shapes_.is_uniform(*value) && !memory.contains(value)) memory[value] = spill(vector_of(value));
  };
  for (const ir::Tile& tile : call.tiles) {
    for (Value* value : {tile.address, tile.columns, tile.rows, tile.across, tile.down, tile.first}) keep(value);
  }
  for (Value* value : call.numbers) keep(value);
  for_each_lane(builder_, wide_, bits_of(lanes_), [&](Value* lane) {
    const auto own = [&](Value* value) {
      const auto found = memory.find(value);
      if (found == memory.end()) return scalar_of(value);
      return load_element(builder_, value->getType(), found->second, lane, width_);
    };
    llvm::SmallVector<Value*, 40> operands = {builder_.CreateAdd(first_thread_, lane)};
    for (const ir::Tile& tile : call.tiles) {
      const bool takes_turns =
          shapes_.of(*tile.address).stride == static_cast<std::int64_t>(ir::bytes_of(tile.element));
      Value* across = tile.is_held ? builder_.getInt64(takes_turns ? simdgroup_width : 1) : own(tile.across);
      operands.append({own(tile.address), own(tile.columns), own(tile.rows), across});
      operands.push_back(tile.is_held ? builder_.CreateMul(own(tile.columns), across) : own(tile.down));
      operands.push_back(tile.is_held ? builder_.getInt64(0) : own(tile.first));
      operands.push_back(builder_.getInt32(static_cast<std::uint32_t>(tile.element)));
      operands.push_back(builder_.getInt32(0));
    }
    for (Value* value : call.numbers) operands.push_back(own(value));
    call_tile_code(call, operands);
  });
}

void Widening::call_tile_code(const TileCall& call, llvm::SmallVectorImpl<Value*>& operands) {
  for (const std::uint32_t flag : call.flags) operands.push_back(builder_.getInt32(flag));
  for (Value*& operand : operands) {
    if (operand->getType()->isPointerTy()) operand = builder_.CreateAddrSpaceCast(operand, builder_.getPtrTy());
  }
  call_runtime(call.name, operands);
}

}  // namespace metalloid::engines::simd
