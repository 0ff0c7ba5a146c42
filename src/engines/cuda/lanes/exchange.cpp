#include "engines/cuda/lanes/exchange.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace metalloid::engines::cuda {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

namespace {

// The last operand of PTX's shfl: the whole warp is one segment; of shfl.up the lowest lane of it.
constexpr std::uint32_t whole_warp = 31, whole_warp_up = 0;
constexpr std::uint32_t all_lanes = 0xffffffff;

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
  Value* place = hardware_lane(builder_, source, order_);
  return by_words(value, [&](Value* word) {
    return builder_.CreateIntrinsic(intrinsic::nvvm_shfl_sync_idx_i32, {mask_, word, place, number(whole_warp)});
  });
}

Value* Lanes::across(Value* value, std::uint32_t distance) const {
  return by_words(value, [&](Value* word) {
    return builder_.CreateIntrinsic(
        intrinsic::nvvm_shfl_sync_bfly_i32,
        {mask_, word, hardware_lane(builder_, number(distance), order_), number(whole_warp)});
  });
}

Value* Lanes::below(Value* value, std::uint32_t distance) const {
  if (order_ != LaneOrder::plain) {
    Value* has_one = builder_.CreateICmpUGE(lane_, number(distance));
    return from(value, builder_.CreateSelect(has_one, builder_.CreateSub(lane_, number(distance)), lane_));
  }
  return by_words(value, [&](Value* word) {
    return builder_.CreateIntrinsic(intrinsic::nvvm_shfl_sync_up_i32,
                                    {mask_, word, number(distance), number(whole_warp_up)});
  });
}

Value* Lanes::has(Value* source) const {
  Value* within = hardware_lane(builder_, builder_.CreateAnd(source, number(31)), order_);
  Value* bit = builder_.CreateAnd(builder_.CreateLShr(mask_, within), number(1));
  return builder_.CreateAnd(builder_.CreateICmpULT(source, number(32)), builder_.CreateICmpNE(bit, number(0)));
}

Value* Lanes::where(Value* holds) const {
  return builder_.CreateIntrinsic(intrinsic::nvvm_vote_ballot_sync, {mask_, holds});
}

Value* Lanes::if_all_are_there(llvm::function_ref<Value*()> all, llvm::function_ref<Value*()> some) const {
  Value* are_all = builder_.CreateICmpEQ(mask_, number(all_lanes));
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(are_all)) return known->isOne() ? all() : some();
  llvm::Instruction *then = nullptr, *otherwise = nullptr;
  llvm::MDNode* likely = llvm::MDBuilder(builder_.getContext()).createLikelyBranchWeights();
  llvm::Instruction* behind = &*builder_.GetInsertPoint();
  llvm::SplitBlockAndInsertIfThenElse(are_all, behind, &then, &otherwise, likely);
  builder_.SetInsertPoint(then);
  Value* of_all = all();
  llvm::BasicBlock* all_end = builder_.GetInsertBlock();
  builder_.SetInsertPoint(otherwise);
  Value* of_some = some();
  llvm::BasicBlock* some_end = builder_.GetInsertBlock();
  builder_.SetInsertPoint(behind->getParent(), behind->getParent()->begin());
  llvm::PHINode* result = builder_.CreatePHI(of_all->getType(), 2);
  result->addIncoming(of_all, all_end);
  result->addIncoming(of_some, some_end);
  builder_.SetInsertPoint(behind);
  return result;
}

}  // namespace metalloid::engines::cuda
