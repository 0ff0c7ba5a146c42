#include "engines/simd/matrices/matrix_code.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include "engines/simd/matrices/matrix_products.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Value;
using Pair = llvm::SmallVector<Value*, 2>;

constexpr unsigned size = 8, width = simdgroup_width;

unsigned row_of(unsigned lane) { return (lane >> 4) * 4 + ((lane >> 2) & 1) * 2 + ((lane >> 1) & 1); }
unsigned column_of(unsigned lane, unsigned part) { return ((lane >> 3) & 1) * 4 + (lane & 1) * 2 + part; }

struct Place {
  unsigned lane, part;
};
Place place_of(unsigned row, unsigned column) {
  const unsigned lane =
      (row >> 2) << 4 | ((column >> 2) & 1) << 3 | ((row >> 1) & 1) << 2 | (row & 1) << 1 | ((column >> 1) & 1);
  return {lane, column & 1};
}

// Each lane gets the element that `source` names for its own place.
template <typename Source>
Value* pick(llvm::IRBuilder<>& builder, const Pair& matrix, unsigned part, Source source) {
  llvm::SmallVector<int, width> places;
  bool is_one = true;
  unsigned only = 0;
  for (unsigned lane = 0; lane < width; ++lane) {
    const Place from = source(row_of(lane), column_of(lane, part));
    if (lane == 0) only = from.part;
    is_one &= from.part == only;
    places.push_back(static_cast<int>(from.part * width + from.lane));
  }
  if (!is_one) return builder.CreateShuffleVector(matrix[0], matrix[1], places);
  for (int& place : places) place %= static_cast<int>(width);
  return builder.CreateShuffleVector(matrix[only], places);
}

// bfloats travel as their bits.
Value* as_float(llvm::IRBuilder<>& builder, Value* value, ir::MatrixElement element) {
  if (element == ir::MatrixElement::f32) return value;
  auto* floats = llvm::FixedVectorType::get(builder.getFloatTy(), size * size);
  if (element == ir::MatrixElement::f16) return builder.CreateFPExt(value, floats);
  auto* words = llvm::FixedVectorType::get(builder.getInt32Ty(), size * size);
  return builder.CreateBitCast(builder.CreateShl(builder.CreateZExt(value, words), 16), floats);
}

Pair multiply_accumulate(llvm::IRBuilder<>& builder, const ir::MatrixOperation& operation, const Pair& a, const Pair& b,
                         const Pair& c) {
  Value* left = as_float(builder, put_in_order(builder, a, MatrixOrder::tiles), operation.a);
  Value* right = as_float(builder, put_in_order(builder, b, MatrixOrder::rows), operation.b);
  Value* sums = put_in_order(builder, c, MatrixOrder::tiles);
  llvm::Type* matrix = sums->getType();
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  auto product = module.getOrInsertFunction(llvm::StringRef(product_name), matrix, matrix, matrix, matrix);
  auto* function = llvm::cast<llvm::Function>(product.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  return take_from_order(builder, builder.CreateCall(product, {sums, left, right}), MatrixOrder::tiles);
}

// Pairs of columns of a, 0 to 3, and b, 4 to 7.
Pair pick_pairs(llvm::IRBuilder<>& builder, const Pair& a, const Pair& b, std::array<unsigned, 4> pairs) {
  Pair result;
  for (unsigned part = 0; part < 2; ++part) {
    llvm::SmallVector<int, width> places;
    for (unsigned lane = 0; lane < width; ++lane) {
      const unsigned pair = pairs[column_of(lane, part) / 2];
      const Place from = place_of(row_of(lane), pair % 4 * 2);
      places.push_back(static_cast<int>(from.lane + (pair < 4 ? 0 : width)));
    }
    result.push_back(builder.CreateShuffleVector(a[part], b[part], places));
  }
  return result;
}

unsigned lane_index(MatrixOrder order, unsigned index) {
  const MatrixPlace place = place_in(order, index);
  const auto [lane, part] = place_of(place.row, place.column);
  return part * width + lane;
}

}  // namespace

Value* put_in_order(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> matrix, MatrixOrder order) {
  llvm::SmallVector<int, size * size> places;
  for (unsigned i = 0; i < size * size; ++i) places.push_back(static_cast<int>(lane_index(order, i)));
  return builder.CreateShuffleVector(matrix[0], matrix[1], places);
}

Pair take_from_order(llvm::IRBuilder<>& builder, Value* matrix, MatrixOrder order) {
  llvm::SmallVector<int, size * size> places(size * size);
  for (unsigned i = 0; i < size * size; ++i) places[lane_index(order, i)] = static_cast<int>(i);
  return {builder.CreateShuffleVector(matrix, llvm::ArrayRef(places).take_front(width)),
          builder.CreateShuffleVector(matrix, llvm::ArrayRef(places).drop_front(width))};
}

Pair matrix_code(llvm::IRBuilder<>& builder, const ir::MatrixOperation& operation, llvm::ArrayRef<Value*> operands,
                 Value* lanes) {
  llvm::SmallVector<Pair, 3> matrices;
  for (unsigned i = 0; i < operands.size(); i += 2) {
    Pair matrix;
    for (unsigned part = 0; part < 2; ++part) {
      Value* value = operands[i + part];
      if (lanes) value = builder.CreateSelect(lanes, value, llvm::Constant::getNullValue(value->getType()));
      matrix.push_back(value);
    }
    matrices.push_back(matrix);
  }
  switch (operation.action) {
    case ir::MatrixAction::multiply_accumulate:
    case ir::MatrixAction::multiply_accumulate_relaxed:
      return multiply_accumulate(builder, operation, matrices[0], matrices[1], matrices[2]);
    case ir::MatrixAction::transpose: {
      Pair result;
      for (unsigned part = 0; part < 2; ++part) {
        result.push_back(pick(builder, matrices[0], part, [](unsigned r, unsigned c) { return place_of(c, r); }));
      }
      return result;
    }
    case ir::MatrixAction::zip_low: return pick_pairs(builder, matrices[0], matrices[1], {0, 4, 1, 5});
    case ir::MatrixAction::zip_high: return pick_pairs(builder, matrices[0], matrices[1], {2, 6, 3, 7});
    case ir::MatrixAction::unzip_even: return pick_pairs(builder, matrices[0], matrices[1], {0, 2, 4, 6});
    case ir::MatrixAction::unzip_odd: return pick_pairs(builder, matrices[0], matrices[1], {1, 3, 5, 7});
  }
  return {};
}

}  // namespace metalloid::engines::simd
