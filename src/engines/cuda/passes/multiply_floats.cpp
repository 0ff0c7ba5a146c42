#include "engines/cuda/passes/multiply_floats.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "engines/cuda/lanes/exchange.h"
#include "engines/cuda/lanes/fragments.h"
#include "engines/cuda/lanes/places.h"
#include "engines/cuda/lanes/products.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

constexpr unsigned size = 8;  // of a matrix, down and across
constexpr unsigned at_once = 4, pair = 2;

// Of one block.
class FloatProducts {
 public:
  FloatProducts(llvm::BasicBlock& block, llvm::ScalarEvolution& evolution, LaneOrder order)
      : block_(block), evolution_(evolution), order_(order), builder_(block.getContext()) {}

  void run() {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block_)) {
      if (uses_pending(instruction)) multiply_before(instruction);
      if (as_product(instruction) == ir::MatrixElement::f32) {
        pending_.push_back(llvm::cast<llvm::CallInst>(&instruction));
      }
    }
    if (!pending_.empty()) multiply_before(*block_.getTerminator());
  }

 private:
  struct Sum {
    llvm::CallInst* product;
    std::array<Value*, pair> elements;
  };
  enum class Side : std::uint8_t { left, right };

  bool uses_pending(const llvm::Instruction& instruction) const {
    return llvm::any_of(instruction.operands(),
                        [&](const llvm::Use& use) { return llvm::is_contained(pending_, use.get()); });
  }

  void multiply_before(llvm::Instruction& behind) {
    builder_.SetInsertPoint(&behind);
    if (!lane_) begin();
    llvm::SmallVector<Sum, 16> sums;
    for (llvm::CallInst* product : pending_) {
      Value* start = product->getArgOperand(2);
      sums.push_back(
          {product, {builder_.CreateExtractElement(start, std::uint64_t{0}), builder_.CreateExtractElement(start, 1)}});
    }
    for (unsigned k = 0; k < size; ++k) {
      for (Sum& sum : sums) {
        Value* a = element_of(*sum.product->getArgOperand(0), Side::left, k, 0);
        for (unsigned j = 0; j < pair; ++j) {
          Value* b = element_of(*sum.product->getArgOperand(1), Side::right, k, j);
          Value*& element = sum.elements[j];
          element = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {element->getType()}, {a, b, element});
        }
      }
    }
    for (const Sum& sum : sums) {
      Value* made = llvm::PoisonValue::get(sum.product->getType());
      for (unsigned j = 0; j < pair; ++j) made = builder_.CreateInsertElement(made, sum.elements[j], j);
      sum.product->replaceAllUsesWith(made);
      sum.product->eraseFromParent();
    }
    pending_.clear();
  }

  // Lanes that took other ways to here come together.
  void begin() {
    Value* all = builder_.getInt32(~std::uint32_t{0});
    builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {all});
    lane_ = metals_lane(builder_, builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, {}), order_);
    const MatrixPlace place = place_in_matrix(builder_, lane_);
    row_ = builder_.CreateZExt(place.row, builder_.getInt64Ty());
    column_ = builder_.CreateZExt(place.column, builder_.getInt64Ty());
    own_row_ = builder_.CreateAnd(lane_, builder_.getInt32(row_mask));
    own_column_ = builder_.CreateAnd(lane_, builder_.getInt32(column_mask));
  }

  // Of a left operand that of the own row and k; of a right one that of k and the own columns' part.
  Value* element_of(Value& matrix, Side side, unsigned k, unsigned part) {
    const auto fragment = as_float_fragment(matrix);
    if (fragment && can_be_read(*fragment)) {
      // Lines of memory go along k, or across.
      const bool goes_along = fragment->is_transposed() == (side == Side::right);
      return goes_along ? read_along(*fragment, side, k, part) : read_across(*fragment, side, k, part);
    }
    if (side == Side::left) return from(&matrix, k % pair, own_row_, lane_column(k));
    return from(&matrix, part, own_column_, lane_row(k));
  }

  // Whether memory still has what the lanes read from there.
  bool can_be_read(const FloatFragment& fragment) const {
    const auto loads = loads_of(*fragment.elements(), block_);
    if (!loads) return false;
    const llvm::Instruction* end = &*builder_.GetInsertPoint();
    for (const llvm::Instruction* between = loads->first; between != end; between = between->getNextNode()) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(between);
      if (as_product(*between) || (call && call->getIntrinsicID() == llvm::Intrinsic::nvvm_bar_warp_sync)) continue;
      if (between->mayWriteToMemory()) return false;
    }
    return true;
  }

  Value* read_along(const FloatFragment& fragment, Side side, unsigned k, unsigned part) {
    const unsigned first = k / at_once * at_once;
    Value*& known = read_[{fragment.call, side, first, part}];
    if (!known) {
      Value* line = side == Side::left ? row_ : builder_.CreateAdd(column_, builder_.getInt64(part));
      known = read(fragment, line, builder_.getInt64(first), at_once);
    }
    return builder_.CreateExtractElement(known, k - first);
  }

  Value* read_across(const FloatFragment& fragment, Side side, unsigned k, unsigned part) {
    Value*& known = read_[{fragment.call, side, k, 0}];
    const bool is_left = side == Side::left;
    if (!known) known = read(fragment, builder_.getInt64(k), is_left ? row_ : column_, is_left ? 1 : pair);
    return is_left ? known : builder_.CreateExtractElement(known, part);
  }

  Value* read(const FloatFragment& fragment, Value* line, Value* place, unsigned count) {
    llvm::Type* element = builder_.getFloatTy();
    llvm::Type* type = count == 1 ? element : llvm::FixedVectorType::get(element, count);
    Value* offset = builder_.CreateAdd(builder_.CreateMul(line, fragment.stride()), place);
    return builder_.CreateAlignedLoad(type, builder_.CreateGEP(element, fragment.first(), offset),
                                      std::min(alignment(fragment), llvm::Align(count * sizeof(float))));
  }

  llvm::Align alignment(const FloatFragment& fragment) const {
    const auto zeros = [&](Value* value) { return evolution_.getMinTrailingZeros(evolution_.getSCEV(value)); };
    constexpr unsigned of_float = 2, most = 4;
    return llvm::Align(
        std::uint64_t{1} << std::min({zeros(fragment.first()), zeros(fragment.stride()) + of_float, most}));
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
  llvm::ScalarEvolution& evolution_;
  const LaneOrder order_;
  llvm::IRBuilder<> builder_;
  llvm::SmallVector<llvm::CallInst*, 16> pending_;  // products that nothing has used yet
  Value *lane_ = nullptr, *row_ = nullptr, *column_ = nullptr, *own_row_ = nullptr, *own_column_ = nullptr;
  std::map<std::tuple<Value*, unsigned, Value*, std::uint32_t>, Value*> known_;
  std::map<std::tuple<Value*, Side, unsigned, unsigned>, Value*> read_;  // of a matrix that may be on both sides
};

void drop_marks(llvm::Function& function) {
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      const auto fragment = as_float_fragment(instruction);
      if (!fragment) continue;
      instruction.replaceAllUsesWith(fragment->elements());
      instruction.eraseFromParent();
    }
  }
}

}  // namespace

void multiply_floats(llvm::Module& module, LaneOrder order) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    ir::PassManagers managers;
    auto& evolution = managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (llvm::BasicBlock& block : function) FloatProducts(block, evolution, order).run();
    drop_marks(function);
  }
}

}  // namespace metalloid::engines::cuda
