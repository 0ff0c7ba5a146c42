#include "engines/cuda/lanes/matrices.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

#include <array>
#include <cstdint>

#include "engines/cuda/lanes/places.h"
#include "engines/cuda/lanes/products.h"

namespace metalloid::engines::cuda {
namespace {

using ir::MatrixAction;
using ir::MatrixElement;
using llvm::Value;

class MatrixCode {
 public:
  explicit MatrixCode(const Lanes& lanes) : lanes_(lanes), builder_(lanes.builder()) {}

  Value* multiply(const ir::MatrixOperation& operation, llvm::ArrayRef<Value*> operands) {
    const bool has_cores = lanes_.order() == LaneOrder::of_matrices && is_for_tensor_cores(operation);
    if (!has_cores && !is_of_floats(operation)) return multiply_by_shuffles(operation, operands);
    return lanes_.if_all_are_there(
        [&] { return create_product(builder_, operation.a, operands[0], operands[1], operands[2]); },
        [&] { return multiply_by_shuffles(operation, operands); });
  }

  Value* multiply_by_shuffles(const ir::MatrixOperation& operation, llvm::ArrayRef<Value*> operands) {
    Value *left = as_floats(operands[0], operation.a), *right = as_floats(operands[1], operation.b);
    std::array<Value*, 2> sum = {element(operands[2], 0), element(operands[2], 1)};
    Value* own_row = builder_.CreateAnd(lanes_.lane(), lanes_.number(row_mask));
    Value* own_column = builder_.CreateAnd(lanes_.lane(), lanes_.number(column_mask));
    for (unsigned k = 0; k < 8; ++k) {
      Value* a = part_of(left, k & 1, builder_.CreateOr(own_row, lanes_.number(lane_column(k))));
      Value* row = builder_.CreateOr(own_column, lanes_.number(lane_row(k)));
      for (unsigned j = 0; j < 2; ++j) {
        Value* b = part_of(right, j, row);
        sum[j] = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {sum[j]->getType()}, {a, b, sum[j]});
      }
    }
    return pair(sum[0], sum[1]);
  }

  // Of row and column the one lane has the other's: its elements lie in two lanes, each time the same part.
  Value* transpose(Value* matrix) {
    Value* lane = lanes_.lane();
    const auto bit = [&](unsigned which, unsigned to) {
      return builder_.CreateShl(builder_.CreateAnd(builder_.CreateLShr(lane, which), 1), to);
    };
    // Row r, columns c and c + 1 come from rows c and c + 1, column r.
    Value* source =
        builder_.CreateOr(builder_.CreateOr(bit(column_bits[0], row_bits[1]), bit(column_bits[1], row_bits[2])),
                          builder_.CreateOr(bit(row_bits[1], column_bits[0]), bit(row_bits[2], column_bits[1])));
    Value* is_odd = builder_.CreateICmpNE(builder_.CreateAnd(lane, lanes_.number(1U << row_bits[0])), lanes_.number(0));
    std::array<Value*, 2> result{};
    for (unsigned j = 0; j < 2; ++j) {
      Value* from = builder_.CreateOr(source, lanes_.number(j << row_bits[0]));
      result[j] = builder_.CreateSelect(is_odd, part_of(matrix, 1, from), part_of(matrix, 0, from));
    }
    return pair(result[0], result[1]);
  }

  // Pairs of columns, numbered 0 to 3 of a, 4 to 7 of b.
  Value* pick(Value* a, Value* b, const std::array<unsigned, 4>& pairs) {
    Value* row = builder_.CreateAnd(lanes_.lane(), lanes_.number(row_mask));
    Value* own = builder_.CreateAnd(lanes_.lane(), lanes_.number(column_mask));
    Value* result = nullptr;
    for (unsigned place = 0; place < 4; ++place) {
      const unsigned pair_number = pairs[place];
      Value* from = builder_.CreateOr(row, lanes_.number(lane_column(pair_number % 4 * 2)));
      Value* picked = whole(pair_number < 4 ? a : b, from);
      Value* is_here = builder_.CreateICmpEQ(own, lanes_.number(lane_column(place * 2)));
      result = result ? builder_.CreateSelect(is_here, picked, result) : picked;
    }
    return result;
  }

 private:
  Value* element(Value* matrix, unsigned part) { return builder_.CreateExtractElement(matrix, part); }
  Value* pair(Value* first, Value* second) {
    Value* made = llvm::PoisonValue::get(llvm::FixedVectorType::get(first->getType(), 2));
    return builder_.CreateInsertElement(builder_.CreateInsertElement(made, first, std::uint64_t{0}), second, 1);
  }

  Value* as_floats(Value* matrix, MatrixElement element) {
    auto* floats = llvm::FixedVectorType::get(builder_.getFloatTy(), 2);
    if (element == MatrixElement::f16) return builder_.CreateFPExt(matrix, floats);
    if (element != MatrixElement::bf16) return matrix;
    auto* words = llvm::FixedVectorType::get(builder_.getInt32Ty(), 2);
    Value* high =
        builder_.CreateShl(builder_.CreateZExt(matrix, words), builder_.CreateVectorSplat(2, lanes_.number(16)));
    return builder_.CreateBitCast(high, floats);
  }

  Value* part_of(Value* matrix, unsigned part, Value* source) { return there(element(matrix, part), source); }
  Value* whole(Value* matrix, Value* source) { return there(matrix, source); }
  Value* there(Value* value, Value* source) {
    Value* is_there = lanes_.has(source);
    Value* got = lanes_.from(value, builder_.CreateSelect(is_there, source, lanes_.lane()));
    return builder_.CreateSelect(is_there, got, llvm::Constant::getNullValue(value->getType()));
  }

  const Lanes& lanes_;
  llvm::IRBuilder<>& builder_;
};

}  // namespace

Value* operate_on_matrices(const Lanes& lanes, const ir::MatrixOperation& operation, llvm::ArrayRef<Value*> operands) {
  MatrixCode code(lanes);
  switch (operation.action) {
    case MatrixAction::multiply_accumulate:
    case MatrixAction::multiply_accumulate_relaxed: return code.multiply(operation, operands);
    case MatrixAction::transpose: return code.transpose(operands[0]);
    case MatrixAction::zip_low: return code.pick(operands[0], operands[1], {0, 4, 1, 5});
    case MatrixAction::zip_high: return code.pick(operands[0], operands[1], {2, 6, 3, 7});
    case MatrixAction::unzip_even: return code.pick(operands[0], operands[1], {0, 2, 4, 6});
    case MatrixAction::unzip_odd: return code.pick(operands[0], operands[1], {1, 3, 5, 7});
  }
  return nullptr;
}

}  // namespace metalloid::engines::cuda
