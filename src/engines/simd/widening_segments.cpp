// Accesses of memory by runs of lanes that touch a row, or one place, each.
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

#include "engines/simd/widening.h"

namespace metalloid::engines::simd {

using llvm::Value;

Value* Widening::segment_of(Value* vector, unsigned first, unsigned width) {
  llvm::SmallVector<int, simdgroup_width> lanes;
  for (unsigned lane = 0; lane < width; ++lane) lanes.push_back(static_cast<int>(first + lane));
  return builder_.CreateShuffleVector(vector, lanes);
}

// Of the segment's first lane; counted from its last one, as in widen_index.
Value* Widening::segment_address(Value* pointer, const Segments& segments, unsigned first) {
  const unsigned last = first + segments.width - 1;
  Value* address = builder_.CreateExtractElement(vector_of(pointer), last);
  if (segments.stride == 0) return address;
  return builder_.CreateGEP(builder_.getInt8Ty(), address,
                            builder_.getInt64(static_cast<std::uint64_t>(-segments.stride * (segments.width - 1))));
}

bool Widening::load_segments(llvm::LoadInst& load, llvm::Align alignment, Widened& result) {
  Type* type = load.getType();
  Type* element = type->getScalarType();
  Value* pointer = load.getPointerOperand();
  const Segments segments = shapes_.segments_of(*pointer);
  const auto size = static_cast<std::int64_t>(layout_.getTypeStoreSize(element).getFixedValue());
  const bool is_row = segments.stride == size && !type->isVectorTy();
  if (segments.width == 0 || load.isVolatile() || (segments.stride != 0 && !is_row)) return false;
  const unsigned parts = parts_of(type);
  llvm::SmallVector<Value*, 4> vectors(parts, llvm::PoisonValue::get(wide(element)));
  for (unsigned first = 0; first < simdgroup_width; first += segments.width) {
    Value* address = segment_address(pointer, segments, first);
    Value* lanes = lanes_ ? segment_of(lanes_, first, segments.width) : nullptr;
    const auto put = [&](unsigned part, Value* segment) {
      // Of 32 elements, then into its place.
      llvm::SmallVector<int, simdgroup_width> wider, merged;
      for (unsigned lane = 0; lane < simdgroup_width; ++lane) {
        const bool is_own = lane >= first && lane < first + segments.width;
        wider.push_back(is_own ? static_cast<int>(lane - first) : -1);
        merged.push_back(static_cast<int>(is_own ? simdgroup_width + lane : lane));
      }
      vectors[part] = builder_.CreateShuffleVector(vectors[part], builder_.CreateShuffleVector(segment, wider), merged);
    };
    if (is_row) {
      Type* bits = element->isHalfTy() || element->isBFloatTy() ? builder_.getInt16Ty() : element;
      auto* row = llvm::FixedVectorType::get(bits, segments.width);
      Value* segment = lanes ? static_cast<Value*>(builder_.CreateMaskedLoad(row, address, alignment, lanes))
                             : builder_.CreateAlignedLoad(row, address, alignment);
      put(0, builder_.CreateBitCast(segment, llvm::FixedVectorType::get(element, segments.width)));
      continue;
    }
    if (lanes) {
      Value* bits = builder_.CreateBitCast(lanes, builder_.getIntNTy(segments.width));
      Value* is_used = builder_.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType()));
      address = builder_.CreateSelect(is_used, address, safe_address(address->getType()));
    }
    Value* value = builder_.CreateAlignedLoad(type, address, alignment);
    for (unsigned part = 0; part < parts; ++part) {
      Value* own = type->isVectorTy() ? builder_.CreateExtractElement(value, part) : value;
      put(part, builder_.CreateVectorSplat(segments.width, own));
    }
  }
  result.vectors.assign(vectors.begin(), vectors.end());
  return true;
}

bool Widening::store_segments(llvm::StoreInst& store, llvm::Align alignment) {
  Value* value = store.getValueOperand();
  Type* type = value->getType();
  const Segments segments = shapes_.segments_of(*store.getPointerOperand());
  const auto size = static_cast<std::int64_t>(layout_.getTypeStoreSize(type).getFixedValue());
  if (segments.width == 0 || store.isVolatile() || type->isVectorTy() || segments.stride != size) return false;
  Type* bits = type->isHalfTy() || type->isBFloatTy() ? builder_.getInt16Ty() : type;
  Value* whole = builder_.CreateBitCast(vector_of(value), wide(bits));
  for (unsigned first = 0; first < simdgroup_width; first += segments.width) {
    Value* address = segment_address(store.getPointerOperand(), segments, first);
    Value* segment = segment_of(whole, first, segments.width);
    if (lanes_) {
      builder_.CreateMaskedStore(segment, address, alignment, segment_of(lanes_, first, segments.width));
    } else {
      builder_.CreateAlignedStore(segment, address, alignment);
    }
  }
  return true;
}

}  // namespace metalloid::engines::simd
