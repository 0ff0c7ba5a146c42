#include "engines/cuda/lanes/reductions.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <cstdint>
#include <optional>

#include "metalloid/error.h"

namespace metalloid::engines::cuda {
namespace {

using ir::CrossLane;
using ir::LaneType;
using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

bool is_float(LaneType type) { return type == LaneType::f16 || type == LaneType::f32; }
bool is_signed(LaneType type) { return type == LaneType::i32 || type == LaneType::i64; }

class Reduction {
 public:
  Reduction(const Lanes& lanes, const ir::CrossLaneOperation& operation)
      : lanes_(lanes),
        builder_(lanes.builder()),
        operation_(operation),
        width_(operation.group == ir::LaneGroup::quad ? 4 : 32) {}

  Value* run(Value* value) {
    switch (operation_.operation) {
      case CrossLane::prefix_inclusive_sum:
      case CrossLane::prefix_inclusive_product: return prefix(value, /*is_inclusive=*/true);
      case CrossLane::prefix_exclusive_sum:
      case CrossLane::prefix_exclusive_product: return prefix(value, /*is_inclusive=*/false);
      default: break;
    }
    if (const auto own = instruction()) {
      return builder_.CreateIntrinsic(*own, {value, lanes_.mask()});
    }
    return lanes_.if_all_are_there([&] { return tree_of_all(value); }, [&] { return tree_of_some(value); });
  }

 private:
  llvm::ConstantInt* number(std::uint32_t value) { return lanes_.number(value); }

  // The GPU has one for integers of 32 bits and any mask.
  std::optional<intrinsic::ID> instruction() const {
    const bool is_word = operation_.type == LaneType::i32 || operation_.type == LaneType::u32;
    if (!is_word || width_ != 32) return std::nullopt;
    const bool has_sign = operation_.type == LaneType::i32;
    switch (operation_.operation) {
      case CrossLane::sum: return intrinsic::nvvm_redux_sync_add;
      case CrossLane::min: return has_sign ? intrinsic::nvvm_redux_sync_min : intrinsic::nvvm_redux_sync_umin;
      case CrossLane::max: return has_sign ? intrinsic::nvvm_redux_sync_max : intrinsic::nvvm_redux_sync_umax;
      case CrossLane::bit_and: return intrinsic::nvvm_redux_sync_and;
      case CrossLane::bit_or: return intrinsic::nvvm_redux_sync_or;
      case CrossLane::bit_xor: return intrinsic::nvvm_redux_sync_xor;
      default: return std::nullopt;
    }
  }

  Value* combine(Value* a, Value* b) {
    const LaneType type = operation_.type;
    const auto extreme = [&](intrinsic::ID of_floats, intrinsic::ID of_signed, intrinsic::ID of_unsigned) {
      return builder_.CreateBinaryIntrinsic(is_float(type)    ? of_floats
                                            : is_signed(type) ? of_signed
                                                              : of_unsigned,
                                            a, b);
    };
    switch (operation_.operation) {
      case CrossLane::sum:
      case CrossLane::prefix_inclusive_sum:
      case CrossLane::prefix_exclusive_sum:
        return is_float(type) ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
      case CrossLane::product:
      case CrossLane::prefix_inclusive_product:
      case CrossLane::prefix_exclusive_product:
        return is_float(type) ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
      case CrossLane::min: return extreme(intrinsic::minnum, intrinsic::smin, intrinsic::umin);
      case CrossLane::max: return extreme(intrinsic::maxnum, intrinsic::smax, intrinsic::umax);
      case CrossLane::bit_and: return builder_.CreateAnd(a, b);
      case CrossLane::bit_or: return builder_.CreateOr(a, b);
      case CrossLane::bit_xor: return builder_.CreateXor(a, b);
      default: throw Error(ErrorCode::internal, "no such reduction");
    }
  }

  // What an exclusive prefix begins with.
  Value* nothing(llvm::Type* type) {
    const bool is_product = operation_.operation == CrossLane::prefix_exclusive_product ||
                            operation_.operation == CrossLane::prefix_inclusive_product;
    if (type->isFloatingPointTy()) return llvm::ConstantFP::get(type, is_product ? 1 : 0);
    return llvm::ConstantInt::get(type, is_product ? 1 : 0);
  }

  Value* tree_of_all(Value* value) {
    for (std::uint32_t distance = width_ / 2; distance != 0; distance /= 2) {
      value = combine(value, lanes_.across(value, distance));
    }
    return value;
  }

  // Lanes that are equal modulo twice the distance hold the same sum already; any of them speaks for those that the
  // tree wants next.
  Value* tree_of_some(Value* value) {
    Value* first = builder_.CreateAnd(lanes_.lane(), number(~(width_ - 1)));
    Value* present = lanes_.in_metals_order(lanes_.mask());
    for (std::uint32_t distance = width_ / 2; distance != 0; distance /= 2) {
      std::uint32_t pattern = 0;
      for (std::uint32_t i = 0; i < width_; i += 2 * distance) pattern |= std::uint32_t{1} << i;
      Value* other = builder_.CreateAnd(builder_.CreateXor(lanes_.lane(), number(distance)), number(2 * distance - 1));
      Value* those = builder_.CreateShl(number(pattern), builder_.CreateAdd(first, other));
      those = builder_.CreateAnd(those, present);
      Value* are_some = builder_.CreateICmpNE(those, number(0));
      Value* speaker = builder_.CreateBinaryIntrinsic(intrinsic::cttz, those, builder_.getFalse());
      speaker = builder_.CreateSelect(are_some, speaker, lanes_.lane());
      value = builder_.CreateSelect(are_some, combine(value, lanes_.from(value, speaker)), value);
    }
    return value;
  }

  Value* prefix(Value* value, bool is_inclusive) {
    return lanes_.if_all_are_there([&] { return prefix_of_all(value, is_inclusive); },
                                   [&] { return prefix_of_some(value, is_inclusive); });
  }

  Value* prefix_of_all(Value* value, bool is_inclusive) {
    Value* within = builder_.CreateAnd(lanes_.lane(), number(width_ - 1));
    for (std::uint32_t distance = 1; distance < width_; distance *= 2) {
      Value* below = lanes_.below(value, distance);
      Value* is_there = builder_.CreateICmpUGE(within, number(distance));
      value = builder_.CreateSelect(is_there, combine(below, value), value);
    }
    if (is_inclusive) return value;
    Value* is_first = builder_.CreateICmpEQ(within, number(0));
    return builder_.CreateSelect(is_first, nothing(value->getType()), lanes_.below(value, 1));
  }

  Value* prefix_of_some(Value* value, bool is_inclusive) {
    Value* first = builder_.CreateAnd(lanes_.lane(), number(~(width_ - 1)));
    Value* sum = nothing(value->getType());
    for (std::uint32_t i = 0; i < width_; ++i) {
      Value* source = builder_.CreateAdd(first, number(i));
      Value* reads = lanes_.has(source);
      Value* there = lanes_.from(value, builder_.CreateSelect(reads, source, lanes_.lane()));
      Value* counts = builder_.CreateAnd(reads, is_inclusive ? builder_.CreateICmpULE(source, lanes_.lane())
                                                             : builder_.CreateICmpULT(source, lanes_.lane()));
      sum = builder_.CreateSelect(counts, combine(sum, there), sum);
    }
    return sum;
  }

  const Lanes& lanes_;
  llvm::IRBuilder<>& builder_;
  const ir::CrossLaneOperation operation_;
  const std::uint32_t width_;
};

}  // namespace

Value* reduce(const Lanes& lanes, const ir::CrossLaneOperation& operation, Value* value) {
  return Reduction(lanes, operation).run(value);
}

}  // namespace metalloid::engines::cuda
