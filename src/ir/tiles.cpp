#include "ir/tiles.h"

#include <llvm/IR/Constants.h>

#include <cstdint>

namespace metalloid::ir {
namespace {

constexpr unsigned tile_operands = 7;

std::uint64_t constant(const llvm::Value& value) { return llvm::cast<llvm::ConstantInt>(value).getZExtValue(); }

Tile read_tile(const llvm::CallBase& call, unsigned first) {
  const auto operand = [&](unsigned i) { return call.getArgOperand(first + i); };
  return {.address = operand(0),
          .columns = operand(1),
          .rows = operand(2),
          .across = operand(3),
          .down = operand(4),
          .first = operand(5),
          .element = static_cast<TileElement>(constant(*operand(6))),
          .is_held = operand(0)->getType()->getPointerAddressSpace() == 0};
}

}  // namespace

bool is_of_thread(const Tile& tile) { return tile.is_held && constant(*tile.down) == 0; }

Matmul2d read_matmul2d(const llvm::CallBase& call) {
  const auto operand = [&](unsigned i) { return call.getArgOperand(3 * tile_operands + i); };
  return {.left = read_tile(call, 0),
          .right = read_tile(call, tile_operands),
          .destination = read_tile(call, 2 * tile_operands),
          .m = operand(0),
          .n = operand(1),
          .k = operand(2),
          .left_is_transposed = constant(*operand(3)) != 0,
          .right_is_transposed = constant(*operand(4)) != 0,
          .accumulates = constant(*operand(5)) != 0,
          .precision = static_cast<Precision>(constant(*operand(6))),
          .simdgroups = static_cast<unsigned>(constant(*operand(7)))};
}

std::optional<Matmul2d> as_product(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || !callee->getName().starts_with("metalloid.matmul2d.")) return std::nullopt;
  return read_matmul2d(call);
}

TileTransfer read_transfer(const llvm::CallBase& call, bool is_load) {
  return {.held = read_tile(call, 0), .memory = read_tile(call, tile_operands), .is_load = is_load};
}

std::optional<TileTransfer> as_transfer(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return std::nullopt;
  const bool is_load = callee->getName().starts_with("metalloid.cooperative_tensor.load.");
  if (!is_load && !callee->getName().starts_with("metalloid.cooperative_tensor.store.")) return std::nullopt;
  return read_transfer(call, is_load);
}

llvm::SmallVector<Tile, 3> tiles_of(const llvm::CallBase& call) {
  if (const auto product = as_product(call)) return {product->left, product->right, product->destination};
  if (const auto transfer = as_transfer(call)) return {transfer->held, transfer->memory};
  return {};
}

}  // namespace metalloid::ir
