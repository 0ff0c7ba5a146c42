#include "engines/simd/vectors/cross_lane_code.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <cstdint>

#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using ir::CrossLane;
using ir::LaneType;
using llvm::Value;

constexpr unsigned width = simdgroup_width;
constexpr unsigned quad = 4;

bool is_signed(LaneType type) { return type == LaneType::i32 || type == LaneType::i64; }

// The operand that changes nothing. For float min and max it is NaN, which both ignore.
llvm::Constant* neutral(CrossLane operation, LaneType lane_type, llvm::Type* type) {
  const unsigned bits = type->getScalarSizeInBits();
  switch (operation) {
    case CrossLane::product:
    case CrossLane::prefix_inclusive_product:
    case CrossLane::prefix_exclusive_product:
      return type->isFloatingPointTy() ? llvm::ConstantFP::get(type, 1) : llvm::ConstantInt::get(type, 1);
    case CrossLane::min:
      if (type->isFloatingPointTy()) return llvm::ConstantFP::getNaN(type);
      return llvm::ConstantInt::get(
          type, is_signed(lane_type) ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
    case CrossLane::max:
      if (type->isFloatingPointTy()) return llvm::ConstantFP::getNaN(type);
      return llvm::ConstantInt::get(
          type, is_signed(lane_type) ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getZero(bits));
    case CrossLane::bit_and: return llvm::Constant::getAllOnesValue(type);
    case CrossLane::sum:
      if (type->isFloatingPointTy()) return llvm::ConstantFP::getNegativeZero(type);
      return llvm::Constant::getNullValue(type);
    default: return llvm::Constant::getNullValue(type);
  }
}

// Compares as minNum and maxNum do: NaN loses.
Value* choose(llvm::IRBuilder<>& builder, llvm::CmpInst::Predicate better, Value* a, Value* b) {
  Value* takes_b = builder.CreateFCmp(better, b, a);
  takes_b = builder.CreateOr(takes_b, builder.CreateFCmpUNO(a, a));
  return builder.CreateSelect(takes_b, b, a);
}

Value* combine(llvm::IRBuilder<>& builder, CrossLane operation, LaneType type, Value* a, Value* b) {
  const bool is_float = a->getType()->isFPOrFPVectorTy();
  switch (operation) {
    case CrossLane::product:
    case CrossLane::prefix_inclusive_product:
    case CrossLane::prefix_exclusive_product: return is_float ? builder.CreateFMul(a, b) : builder.CreateMul(a, b);
    case CrossLane::min:
      if (is_float) return choose(builder, llvm::CmpInst::FCMP_OLT, a, b);
      return builder.CreateBinaryIntrinsic(is_signed(type) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case CrossLane::max:
      if (is_float) return choose(builder, llvm::CmpInst::FCMP_OGT, a, b);
      return builder.CreateBinaryIntrinsic(is_signed(type) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    case CrossLane::bit_and: return builder.CreateAnd(a, b);
    case CrossLane::bit_or: return builder.CreateOr(a, b);
    case CrossLane::bit_xor: return builder.CreateXor(a, b);
    default: return is_float ? builder.CreateFAdd(a, b) : builder.CreateAdd(a, b);
  }
}

template <typename Source>
Value* rearrange(llvm::IRBuilder<>& builder, Value* value, Value* other, unsigned count, Source source) {
  llvm::SmallVector<int, width> sources;
  for (unsigned lane = 0; lane < count; ++lane) sources.push_back(static_cast<int>(source(lane)));
  return builder.CreateShuffleVector(value, other, sources);
}

Value* reduce(llvm::IRBuilder<>& builder, CrossLane operation, LaneType type, Value* value) {
  for (unsigned half = width / 2; half >= 1; half /= 2) {
    Value* low = rearrange(builder, value, value, half, [](unsigned lane) { return lane; });
    Value* high = rearrange(builder, value, value, half, [&](unsigned lane) { return lane + half; });
    value = combine(builder, operation, type, low, high);
  }
  return builder.CreateExtractElement(value, std::uint64_t{0});
}

Value* reduce_quads(llvm::IRBuilder<>& builder, CrossLane operation, LaneType type, Value* value) {
  // (0, 2) and (1, 3), then both; every lane ends with the same operands in the same order.
  Value* low = rearrange(builder, value, value, width, [](unsigned lane) { return lane & ~2u; });
  Value* high = rearrange(builder, value, value, width, [](unsigned lane) { return lane | 2u; });
  value = combine(builder, operation, type, low, high);
  low = rearrange(builder, value, value, width, [](unsigned lane) { return lane & ~1u; });
  high = rearrange(builder, value, value, width, [](unsigned lane) { return lane | 1u; });
  return combine(builder, operation, type, low, high);
}

Value* scan(llvm::IRBuilder<>& builder, CrossLane operation, LaneType type, unsigned group, Value* value,
            Value* nothing) {
  const auto moved = [&](Value* from, unsigned distance) {
    return rearrange(builder, from, nothing, width,
                     [&](unsigned lane) { return lane % group >= distance ? lane - distance : width + lane; });
  };
  for (unsigned distance = 1; distance < group; distance *= 2) {
    value = combine(builder, operation, type, moved(value, distance), value);
  }
  const bool is_exclusive =
      operation == CrossLane::prefix_exclusive_sum || operation == CrossLane::prefix_exclusive_product;
  return is_exclusive ? moved(value, 1) : value;
}

Value* numbers(llvm::IRBuilder<>& builder, unsigned mask) {
  llvm::SmallVector<llvm::Constant*, width> result;
  for (unsigned lane = 0; lane < width; ++lane) result.push_back(builder.getInt32(lane & mask));
  return llvm::ConstantVector::get(result);
}

Value* permute(llvm::IRBuilder<>& builder, CrossLane operation, unsigned group, Value* value, Value* operand,
               Value* lanes) {
  const auto splat = [&](std::uint32_t number) { return builder.CreateVectorSplat(width, builder.getInt32(number)); };
  Value* lane = numbers(builder, ~0u);
  Value* first = numbers(builder, ~(group - 1));
  Value* within = numbers(builder, group - 1);
  Value* in_group = splat(group - 1);
  Value *source = nullptr, *has_source = nullptr;
  switch (operation) {
    case CrossLane::shuffle_up:
      source = builder.CreateSub(lane, operand);
      has_source = builder.CreateICmpULE(operand, within);
      break;
    case CrossLane::shuffle_down:
      source = builder.CreateAdd(lane, operand);
      has_source = builder.CreateICmpULT(operand, builder.CreateSub(splat(group), within));
      break;
    case CrossLane::shuffle_xor:
      source = builder.CreateXor(lane, operand);
      has_source = builder.CreateICmpULT(operand, splat(group));
      break;
    case CrossLane::rotate_up:
      source = builder.CreateOr(first, builder.CreateAnd(builder.CreateSub(within, operand), in_group));
      break;
    case CrossLane::rotate_down:
      source = builder.CreateOr(first, builder.CreateAnd(builder.CreateAdd(within, operand), in_group));
      break;
    default:
      source = builder.CreateAdd(first, operand);
      has_source = builder.CreateICmpULT(operand, splat(group));
      break;
  }
  if (has_source) source = builder.CreateSelect(has_source, source, lane);
  Value* result = shuffle_lanes(builder, value, source);
  if (!lanes) return result;
  Value* bits = builder.CreateVectorSplat(width, builder.CreateBitCast(lanes, builder.getInt32Ty()));
  Value* takes_part =
      builder.CreateTrunc(builder.CreateLShr(bits, source), llvm::FixedVectorType::get(builder.getInt1Ty(), width));
  return builder.CreateSelect(takes_part, result, value);
}

// The 4 bits of each lane's quadgroup, as 32 bits.
Value* quad_bits(llvm::IRBuilder<>& builder, Value* lanes) {
  Value* bits = builder.CreateVectorSplat(width, builder.CreateBitCast(lanes, builder.getInt32Ty()));
  bits = builder.CreateLShr(bits, numbers(builder, ~(quad - 1)));
  return builder.CreateAnd(bits, builder.CreateVectorSplat(width, builder.getInt32(quad * quad - 1)));
}

bool has_two_source_permutation(const llvm::IRBuilder<>& builder) {
  const llvm::Attribute features = builder.GetInsertBlock()->getParent()->getFnAttribute("target-features");
  return features.isStringAttribute() && features.getValueAsString().contains("+avx512f");
}

}  // namespace

Value* shuffle_lanes(llvm::IRBuilder<>& builder, Value* value, Value* sources) {
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(sources)) {
    llvm::SmallVector<int, width> places;
    for (unsigned lane = 0; lane < width; ++lane) {
      auto* place = llvm::dyn_cast<llvm::ConstantInt>(constant->getAggregateElement(lane));
      places.push_back(place ? static_cast<int>(place->getZExtValue() % width) : -1);
    }
    return builder.CreateShuffleVector(value, places);
  }
  auto* type = llvm::cast<llvm::FixedVectorType>(value->getType());
  auto* words = llvm::FixedVectorType::get(builder.getInt32Ty(), width);
  const unsigned bits = type->getScalarSizeInBits();
  if (bits == 64) {
    auto* integers = llvm::FixedVectorType::get(builder.getInt64Ty(), width);
    Value* whole = builder.CreateBitCast(value, integers);
    Value* low = shuffle_lanes(builder, builder.CreateTrunc(whole, words), sources);
    Value* high = shuffle_lanes(builder, builder.CreateTrunc(builder.CreateLShr(whole, 32), words), sources);
    whole =
        builder.CreateOr(builder.CreateZExt(low, integers), builder.CreateShl(builder.CreateZExt(high, integers), 32));
    return builder.CreateBitCast(whole, type);
  }
  Value* all = builder.CreateBitCast(value, words);
  const auto half = [&](Value* of, unsigned which) {
    return rearrange(builder, of, of, width / 2, [&](unsigned lane) { return lane + which * width / 2; });
  };
  if (has_two_source_permutation(builder)) {
    Value* halves[2];
    for (unsigned h = 0; h < 2; ++h) {
      halves[h] = builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                          {half(all, 0), half(sources, h), half(all, 1)});
    }
    return builder.CreateBitCast(rearrange(builder, halves[0], halves[1], width, [](unsigned lane) { return lane; }),
                                 type);
  }
  llvm::BasicBlock& entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> start(&entry, entry.begin());
  Value* memory = start.CreateAlloca(words);
  builder.CreateStore(all, memory);
  Value* result = llvm::PoisonValue::get(words);
  for (unsigned lane = 0; lane < width; ++lane) {
    Value* source = builder.CreateAnd(builder.CreateExtractElement(sources, lane), builder.getInt32(width - 1));
    Value* element = builder.CreateLoad(builder.getInt32Ty(), builder.CreateGEP(builder.getInt32Ty(), memory, source));
    result = builder.CreateInsertElement(result, element, lane);
  }
  return builder.CreateBitCast(result, type);
}

Value* cross_lane_code(llvm::IRBuilder<>& builder, const ir::CrossLaneOperation& operation, Value* value,
                       Value* operand, Value* lanes) {
  const bool in_quads = operation.group == ir::LaneGroup::quad;
  const unsigned group = in_quads ? quad : width;
  auto* words = llvm::FixedVectorType::get(builder.getInt32Ty(), width);
  if (operation.operation == CrossLane::ballot) {
    if (lanes) value = builder.CreateAnd(value, lanes);
    if (in_quads) return builder.CreateZExt(quad_bits(builder, value), words->getWithNewType(builder.getInt64Ty()));
    return builder.CreateZExt(builder.CreateBitCast(value, builder.getInt32Ty()), builder.getInt64Ty());
  }
  if (operation.operation == CrossLane::broadcast_first) {
    if (!in_quads) {
      Value* first =
          lanes ? builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz,
                                                builder.CreateBitCast(lanes, builder.getInt32Ty()), builder.getFalse())
                : builder.getInt32(0);
      Value* one = shuffle_lanes(builder, value, builder.CreateVectorSplat(width, first));
      return builder.CreateExtractElement(one, std::uint64_t{0});
    }
    Value* first = numbers(builder, ~(quad - 1));
    if (lanes) {
      Value* bits = builder.CreateOr(quad_bits(builder, lanes), builder.CreateVectorSplat(width, builder.getInt32(8)));
      first =
          builder.CreateAdd(first, builder.CreateIntrinsic(llvm::Intrinsic::cttz, {words}, {bits, builder.getTrue()}));
    }
    return shuffle_lanes(builder, value, first);
  }
  if (operation.operation >= CrossLane::broadcast) {
    return permute(builder, operation.operation, group, value, operand, lanes);
  }
  Value* nothing =
      builder.CreateVectorSplat(width, neutral(operation.operation, operation.type, value->getType()->getScalarType()));
  if (lanes) value = builder.CreateSelect(lanes, value, nothing);
  switch (operation.operation) {
    case CrossLane::prefix_inclusive_sum:
    case CrossLane::prefix_exclusive_sum:
    case CrossLane::prefix_inclusive_product:
    case CrossLane::prefix_exclusive_product:
      return scan(builder, operation.operation, operation.type, group, value, nothing);
    default: break;
  }
  return in_quads ? reduce_quads(builder, operation.operation, operation.type, value)
                  : reduce(builder, operation.operation, operation.type, value);
}

}  // namespace metalloid::engines::simd
