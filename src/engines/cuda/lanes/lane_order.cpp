#include "engines/cuda/lanes/lane_order.h"

namespace metalloid::engines::cuda {

using llvm::Value;

namespace {

// Those of `number`'s bits that `mask` has, shifted.
Value* bits(llvm::IRBuilderBase& builder, Value* number, std::uint32_t mask, int left) {
  Value* some = builder.CreateAnd(number, builder.getInt32(mask));
  return left >= 0 ? builder.CreateShl(some, left) : builder.CreateLShr(some, -left);
}

// Changes bits `distance` apart, the lower ones of which `mask` has.
Value* exchange(llvm::IRBuilderBase& builder, Value* word, std::uint32_t mask, unsigned distance) {
  Value* differ = builder.CreateXor(builder.CreateLShr(word, distance), word);
  differ = builder.CreateAnd(differ, builder.getInt32(mask));
  return builder.CreateXor(word, builder.CreateOr(differ, builder.CreateShl(differ, distance)));
}

}  // namespace

Value* hardware_lane(llvm::IRBuilderBase& builder, Value* metals, LaneOrder order) {
  if (order == LaneOrder::plain) return metals;
  Value* moved = builder.CreateOr(bits(builder, metals, 0b00110, 1), bits(builder, metals, 0b01000, -2));
  return builder.CreateOr(bits(builder, metals, 0b10001, 0), moved);
}

Value* metals_lane(llvm::IRBuilderBase& builder, Value* hardwares, LaneOrder order) {
  if (order == LaneOrder::plain) return hardwares;
  Value* moved = builder.CreateOr(bits(builder, hardwares, 0b01100, -1), bits(builder, hardwares, 0b00010, 2));
  return builder.CreateOr(bits(builder, hardwares, 0b10001, 0), moved);
}

// The numbers of bits rotate as those of lanes: bits 1 and 2 of the number change places, then 2 and 3.
Value* metals_mask(llvm::IRBuilderBase& builder, Value* hardwares, LaneOrder order) {
  if (order == LaneOrder::plain) return hardwares;
  Value* half_way = exchange(builder, hardwares, 0x0c0c0c0c, 2);
  return exchange(builder, half_way, 0x00f000f0, 4);
}

}  // namespace metalloid::engines::cuda
