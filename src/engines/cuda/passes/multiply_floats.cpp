#include "engines/cuda/passes/multiply_floats.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <array>
#include <map>
#include <tuple>

#include "engines/cuda/lanes/exchange.h"
#include "engines/cuda/lanes/places.h"
#include "engines/cuda/lanes/products.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

// Of one block.
class FloatProducts {
 public:
  FloatProducts(llvm::BasicBlock& block, LaneOrder order)
      : block_(block), order_(order), builder_(block.getContext()) {}

  void run() {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block_)) {
      if (as_product(instruction) == ir::MatrixElement::f32) multiply(llvm::cast<llvm::CallInst>(instruction));
    }
  }

 private:
  void multiply(llvm::CallInst& product) {
    builder_.SetInsertPoint(&product);
    if (!lane_) begin();
    Value *left = product.getArgOperand(0), *right = product.getArgOperand(1), *start = product.getArgOperand(2);
    std::array<Value*, 2> sum = {builder_.CreateExtractElement(start, std::uint64_t{0}),
                                 builder_.CreateExtractElement(start, 1)};
    for (unsigned k = 0; k < 8; ++k) {
      Value* a = from(left, k & 1, own_row_, lane_column(k));
      for (unsigned j = 0; j < 2; ++j) {
        Value* b = from(right, j, own_column_, lane_row(k));
        sum[j] = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {sum[j]->getType()}, {a, b, sum[j]});
      }
    }
    Value* made = llvm::PoisonValue::get(product.getType());
    for (unsigned j = 0; j < 2; ++j) made = builder_.CreateInsertElement(made, sum[j], j);
    product.replaceAllUsesWith(made);
    product.eraseFromParent();
  }

  // Lanes that took other ways to here come together.
  void begin() {
    Value* all = builder_.getInt32(~std::uint32_t{0});
    builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {all});
    lane_ = metals_lane(builder_, builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, {}), order_);
    own_row_ = builder_.CreateAnd(lane_, builder_.getInt32(row_mask));
    own_column_ = builder_.CreateAnd(lane_, builder_.getInt32(column_mask));
  }

  // A part of the matrix in the lane of the own row or column and that place.
  Value* from(Value* matrix, unsigned part, Value* own, std::uint32_t place) {
    Value*& known = known_[{matrix, part, own, place}];
    if (!known) {
      const Lanes lanes(builder_, builder_.getInt32(~std::uint32_t{0}), lane_, order_);
      known = lanes.from(builder_.CreateExtractElement(matrix, part), builder_.CreateOr(own, builder_.getInt32(place)));
    }
    return known;
  }

  llvm::BasicBlock& block_;
  const LaneOrder order_;
  llvm::IRBuilder<> builder_;
  Value *lane_ = nullptr, *own_row_ = nullptr, *own_column_ = nullptr;
  std::map<std::tuple<Value*, unsigned, Value*, std::uint32_t>, Value*> known_;
};

}  // namespace

void multiply_floats(llvm::Module& module, LaneOrder order) {
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) FloatProducts(block, order).run();
  }
}

}  // namespace metalloid::engines::cuda
