// Code that runs once for each lane that takes part, in the lanes' order.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace metalloid::engines::simd {

// `lanes` has a bit for each, and at least one. `body` makes the code of the lane whose number it gets.
template <typename Body>
void for_each_lane(llvm::IRBuilder<>& builder, llvm::Function& function, llvm::Value* lanes, Body body) {
  llvm::BasicBlock* before = builder.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(builder.getContext(), "each.lane", &function, before->getNextNode());
  auto* behind = llvm::BasicBlock::Create(builder.getContext(), "all.lanes", &function, loop->getNextNode());
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  llvm::PHINode* left = builder.CreatePHI(builder.getInt32Ty(), 2);
  left->addIncoming(lanes, before);
  llvm::Value* lane = builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, builder.getTrue());
  body(lane);
  llvm::Value* rest = builder.CreateAnd(left, builder.CreateSub(left, builder.getInt32(1)));
  left->addIncoming(rest, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpNE(rest, builder.getInt32(0)), loop, behind);
  builder.SetInsertPoint(behind);
}

// A lane's element of a <lanes x T> in memory. Bits of a vector of i1 lie side by side.
llvm::Value* load_element(llvm::IRBuilder<>& builder, llvm::Type* type, llvm::Value* memory, llvm::Value* lane,
                          unsigned lanes);
void store_element(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::Value* memory, llvm::Value* lane,
                   unsigned lanes);

}  // namespace metalloid::engines::simd
