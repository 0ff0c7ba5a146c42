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

}  // namespace metalloid::ir
