#include "engines/cuda/lanes/exchange.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace metalloid::engines::cuda {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

namespace {

// The last operand of PTX's shfl: the whole warp is one segment; of shfl.up the lowest lane of it.
constexpr std::uint32_t whole_warp = 31, whole_warp_up = 0;

}  // namespace

template <typename Shuffle>
Value* Lanes::by_words(Value* value, const Shuffle& shuffle) const {
  llvm::Type* type = value->getType();
  const unsigned bits = type->getPrimitiveSizeInBits();
  llvm::Type *word = builder_.getInt32Ty(), *exact = builder_.getIntNTy(bits);
  value = builder_.CreateBitCast(value, exact);
  if (bits <= 32) {
    value = builder_.CreateTrunc(shuffle(builder_.CreateZExt(value, word)), exact);
    return builder_.CreateBitCast(value, type);
  }
  Value* low = shuffle(builder_.CreateTrunc(value, word));
  Value* high = shuffle(builder_.CreateTrunc(builder_.CreateLShr(value, 32), word));
  value = builder_.CreateOr(builder_.CreateZExt(low, exact), builder_.CreateShl(builder_.CreateZExt(high, exact), 32));
  return builder_.CreateBitCast(value, type);
}

Value* Lanes::from(Value* value, Value* source) const {
  return by_words(value, [&](Value* word) {
    return builder_.CreateIntrinsic(intrinsic::nvvm_shfl_sync_idx_i32, {mask_, word, source, number(whole_warp)});
  });
}

Value* Lanes::across(Value* value, std::uint32_t distance) const {
  return by_words(value, [&](Value* word) {
    return builder_.CreateIntrinsic(intrinsic::nvvm_shfl_sync_bfly_i32,
                                    {mask_, word, number(distance), number(whole_warp)});
  });
}

Value* Lanes::below(Value* value, std::uint32_t distance) const {
  return by_words(value, [&](Value* word) {
    return builder_.CreateIntrinsic(intrinsic::nvvm_shfl_sync_up_i32,
                                    {mask_, word, number(distance), number(whole_warp_up)});
  });
}

Value* Lanes::has(Value* source) const {
  Value* within = builder_.CreateAnd(source, number(31));
  Value* bit = builder_.CreateAnd(builder_.CreateLShr(mask_, within), number(1));
  return builder_.CreateAnd(builder_.CreateICmpULT(source, number(32)), builder_.CreateICmpNE(bit, number(0)));
}

Value* Lanes::where(Value* holds) const {
  return builder_.CreateIntrinsic(intrinsic::nvvm_vote_ballot_sync, {mask_, holds});
}

}  // namespace metalloid::engines::cuda
