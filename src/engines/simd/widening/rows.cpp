// Loads of rows: lanes whose elements lie as far apart as each other, in the order of their numbers, near enough that a
// row is read whole and sorted out in registers.
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

#include "engines/simd/widening/widening.h"

namespace metalloid::engines::simd {

using llvm::Value;

namespace {

// Up to so many bytes from lane to lane.
constexpr std::uint64_t widest_distance = 16;

}  // namespace

// Which elements of a row belong to a lane that takes part: of every `distance` the first `parts`.
Value* row_mask(llvm::IRBuilder<>& builder, Value* lanes, unsigned width, unsigned parts, unsigned distance) {
  const unsigned length = width * distance;
  llvm::SmallVector<llvm::Constant*, 128> used;
  llvm::SmallVector<int, 128> lane;
  for (unsigned i = 0; i < length; ++i) {
    used.push_back(builder.getInt1(i % distance < parts));
    lane.push_back(static_cast<int>(i / distance));
  }
  Value* shape = llvm::ConstantVector::get(used);
  if (!lanes) return shape;
  Value* spread = distance == 1 ? lanes : builder.CreateShuffleVector(lanes, lane);
  return parts == distance ? spread : builder.CreateAnd(spread, shape);
}

std::optional<Widening::Row> Widening::row_of(const Value* pointer, Type* type) const {
  Type* element = type->getScalarType();
  const Shape shape = shapes_.of(*pointer);
  const std::uint64_t size = layout_.getTypeStoreSize(element).getFixedValue();
  if (shape.kind != Shape::Kind::strided || shape.stride <= 0 || shape.stride % static_cast<std::int64_t>(size) != 0) {
    return std::nullopt;
  }
  const auto distance = static_cast<std::uint64_t>(shape.stride) / size;
  const unsigned parts = parts_of(type);
  if (distance < parts || distance * size > widest_distance) return std::nullopt;
  return Row{parts, static_cast<unsigned>(distance)};
}

// What lanes have of a row: a vector for each part, as bits.
llvm::SmallVector<Value*, 4> Widening::load_whole(llvm::IRBuilder<>& builder, Type* bits, Value* address,
                                                  const Row& row, unsigned width, llvm::Align alignment,
                                                  bool is_volatile, Value* lanes) {
  const auto [parts, distance] = row;
  auto* type = llvm::FixedVectorType::get(bits, width * distance);
  Value* whole =
      !lanes && parts == distance
          ? static_cast<Value*>(builder.CreateAlignedLoad(type, address, alignment, is_volatile))
          : builder.CreateMaskedLoad(type, address, alignment, row_mask(builder, lanes, width, parts, distance));
  llvm::SmallVector<Value*, 4> result;
  for (unsigned part = 0; part < parts; ++part) {
    llvm::SmallVector<int, simdgroup_width> places;
    for (unsigned lane = 0; lane < width; ++lane) places.push_back(static_cast<int>(lane * distance + part));
    result.push_back(distance == 1 ? whole : builder.CreateShuffleVector(whole, places));
  }
  return result;
}

bool Widening::load_row(llvm::LoadInst& load, llvm::Align alignment, Widened& result) {
  const auto row = row_of(load.getPointerOperand(), load.getType());
  if (!row) return false;
  Type* element = load.getType()->getScalarType();
  llvm::SmallVector<Value*, 4> parts;
  if (is_long(*row) && !load.isVolatile() && (lanes_ || calls_long_loads())) {
    Value* all = call_long_load(load, *row, alignment);
    for (unsigned part = 0; part < row->parts; ++part) parts.push_back(builder_.CreateExtractValue(all, part));
  } else {
    parts = load_whole(builder_, bits_like(builder_, element), scalar_of(load.getPointerOperand()), *row, width_,
                       alignment, load.isVolatile(), lanes_);
  }
  for (Value* part : parts) result.vectors.push_back(builder_.CreateBitCast(part, wide(element)));
  return true;
}

}  // namespace metalloid::engines::simd
