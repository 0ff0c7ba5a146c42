// Values of other lanes, by the GPU's shuffles.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "engines/cuda/lanes/lane_order.h"

namespace metalloid::engines::cuda {

// Code at the builder's place that all lanes of `mask`, and no others, come to.
class Lanes {
 public:
  // `lane`: the calling thread's, 0 to 31. Lanes are numbered as Metal does, bits of masks as the hardware does.
  Lanes(llvm::IRBuilder<>& builder, llvm::Value* mask, llvm::Value* lane, LaneOrder order)
      : builder_(builder), mask_(mask), lane_(lane), order_(order) {}

  llvm::IRBuilder<>& builder() const { return builder_; }
  llvm::Value* mask() const { return mask_; }
  llvm::Value* lane() const { return lane_; }
  LaneOrder order() const { return order_; }
  llvm::ConstantInt* number(std::uint32_t value) const { return builder_.getInt32(value); }

  // What `value` is in the lane `source`, which is one of the mask. Values have up to 64 bits.
  llvm::Value* from(llvm::Value* value, llvm::Value* source) const;
  // What it is in lane ^ distance; all 32 are there.
  llvm::Value* across(llvm::Value* value, std::uint32_t distance) const;
  // What it is `distance` lanes below; all 32 are there. Lanes without one get their own.
  llvm::Value* below(llvm::Value* value, std::uint32_t distance) const;
  // i1: whether the lane, which may be any number, is one of the mask.
  llvm::Value* has(llvm::Value* source) const;
  // i32: of the lanes of the mask, those for which it holds.
  llvm::Value* where(llvm::Value* holds) const;
  // i32: a mask with its bits as Metal numbers lanes.
  llvm::Value* in_metals_order(llvm::Value* mask) const { return metals_mask(builder_, mask, order_); }

  // What `all` makes if all 32 lanes are there, which they are nearly always, else what `some` makes. The builder may
  // go on in another block.
  llvm::Value* if_all_are_there(llvm::function_ref<llvm::Value*()> all, llvm::function_ref<llvm::Value*()> some) const;

 private:
  template <typename Shuffle>
  llvm::Value* by_words(llvm::Value* value, const Shuffle& shuffle) const;

  llvm::IRBuilder<>& builder_;
  llvm::Value *mask_, *lane_;
  const LaneOrder order_;
};

}  // namespace metalloid::engines::cuda
