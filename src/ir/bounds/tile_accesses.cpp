#include "ir/bounds/tile_accesses.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <cstdint>
#include <utility>

#include "ir/tiles.h"

namespace metalloid::ir {
namespace {

using llvm::Value;

// Sums and products of what 64 bits hold, without wrapping.
class RangeWriter {
 public:
  explicit RangeWriter(llvm::CallBase& call) : call_(call), builder_(&call), wide_(builder_.getInt128Ty()) {}

  // `rows` and `columns`: of the tile, what the operation asks for.
  Access access(const Tile& tile, Value* rows, Value* columns, AccessKind kind) {
    rows = least(tile.rows, rows);
    columns = least(tile.columns, columns);
    Value* zero = wide_number(0);
    Value* is_empty = builder_.CreateOr(builder_.CreateICmpSLE(rows, zero), builder_.CreateICmpSLE(columns, zero));
    Value* low = wide(tile.first);
    Value* high = low;
    for (const auto& [count, stride] : {std::pair(rows, tile.down), std::pair(columns, tile.across)}) {
      Value* last = builder_.CreateMul(builder_.CreateSub(count, wide_number(1)), wide(stride));
      low = builder_.CreateAdd(low, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, zero));
      high = builder_.CreateAdd(high, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, last, zero));
    }
    high = builder_.CreateAdd(high, wide_number(1));
    if (tile.element == TileElement::i4 || tile.element == TileElement::u4) {
      low = builder_.CreateAShr(low, 1);
      high = builder_.CreateAShr(builder_.CreateAdd(high, wide_number(1)), 1);
    } else {
      low = builder_.CreateMul(low, wide_number(bytes_of(tile.element)));
      high = builder_.CreateMul(high, wide_number(bytes_of(tile.element)));
    }
    Value* bytes = builder_.CreateSelect(is_empty, zero, builder_.CreateSub(high, low));
    bytes = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, bytes, wide_number(std::uint64_t{1} << 62));
    Value* first = builder_.CreateGEP(builder_.getInt8Ty(), tile.address, number(low));
    return {&call_, first, number(bytes), kind};
  }

 private:
  Value* wide(Value* value) { return builder_.CreateSExt(value, wide_); }
  Value* wide_number(std::uint64_t value) { return llvm::ConstantInt::get(wide_, value); }
  Value* number(Value* value) { return builder_.CreateTrunc(value, builder_.getInt64Ty()); }
  Value* least(Value* a, Value* b) { return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, wide(a), wide(b)); }

  llvm::CallBase& call_;
  llvm::IRBuilder<> builder_;
  llvm::Type* wide_;
};

}  // namespace

llvm::SmallVector<Access, 3> tile_accesses(llvm::CallBase& call) {
  if (const auto transfer = as_transfer(call)) {
    const AccessKind kind = transfer->is_load ? AccessKind::read : AccessKind::write;
    return {RangeWriter(call).access(transfer->memory, transfer->held.rows, transfer->held.columns, kind)};
  }
  const auto product = as_product(call);
  if (!product) return {};
  const Tile &left = product->left, &right = product->right, &destination = product->destination;
  llvm::SmallVector<Access, 3> accesses;
  RangeWriter writer(call);
  Value *m = product->m, *n = product->n, *k = product->k;
  if (!left.is_held) {
    accesses.push_back(product->left_is_transposed ? writer.access(left, k, m, AccessKind::read)
                                                   : writer.access(left, m, k, AccessKind::read));
  }
  if (!right.is_held) {
    accesses.push_back(product->right_is_transposed ? writer.access(right, n, k, AccessKind::read)
                                                    : writer.access(right, k, n, AccessKind::read));
  }
  if (!destination.is_held) {
    const AccessKind kind = product->accumulates ? AccessKind::change : AccessKind::write;
    accesses.push_back(writer.access(destination, m, n, kind));
  }
  return accesses;
}

}  // namespace metalloid::ir
