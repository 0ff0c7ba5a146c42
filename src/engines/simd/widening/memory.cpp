// Accesses of memory, by the shape of their addresses.
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include <algorithm>
#include <string>

#include "engines/simd/vectors/each_lane.h"
#include "engines/simd/widening/widening.h"

namespace metalloid::engines::simd {

using llvm::Value;
using Kind = Shape::Kind;

namespace {

// Gathers of 8 or 16 bits of a program that are there each for itself.
constexpr unsigned most_narrow_gathers = 8;

// Bytes. More lines than that would be in each other's way.
constexpr std::int64_t cache_line = 64, most_prefetched = 1024;
constexpr std::size_t most_apart = 3;  // bits of a lane's number that lead to places of their own

}  // namespace

Value* Widening::address_part(Value* addresses, std::uint64_t offset) {
  if (offset == 0) return addresses;
  return builder_.CreateGEP(builder_.getInt8Ty(), addresses, builder_.getInt64(offset));
}

// Whether masks make it slower by more than a question at run time.
bool Widening::is_better_whole(const llvm::Instruction& access) const {
  const Value* pointer = llvm::getLoadStorePointerOperand(&access);
  if (!pointer || access.isAtomic() || shapes_.is_uniform(*pointer)) return false;
  Type* type = llvm::getLoadStoreType(&access);
  if (type->isAggregateType() || type->isIntOrIntVectorTy(1)) return false;
  if (const auto row = row_of(pointer, type)) {
    return row->distance > 1 && !(llvm::isa<llvm::LoadInst>(access) && is_long(*row) && calls_long_loads());
  }
  if (calls_short_runs(access)) return false;
  return runs_of(pointer, type) || (llvm::isa<llvm::LoadInst>(access) && pieces_of(pointer, type));
}

Widened Widening::widen_load(llvm::LoadInst& load) {
  Type* type = load.getType();
  if (load.isAtomic() || type->isAggregateType() || type->isIntOrIntVectorTy(1)) return lane_by_lane(load);
  Widened result;
  Type* element = type->getScalarType();
  Value* pointer = load.getPointerOperand();
  const unsigned parts = parts_of(type);
  const std::uint64_t size = layout_.getTypeStoreSize(element).getFixedValue();
  const llvm::Align alignment = std::min(load.getAlign(), llvm::Align(llvm::PowerOf2Ceil(size)));
  if (load_row(load, alignment, result)) return result;
  // Code that seldom runs is short.
  if (is_rare_ && (parts > 1 || size < 4)) return once_for_each_lane(load);
  if (load_runs(load, alignment, result) || load_pieces(load, alignment, result) ||
      gather_words(load, alignment, result)) {
    return result;
  }
  Value* addresses = vector_of(pointer);
  for (unsigned p = 0; p < parts; ++p) {
    result.vectors.push_back(gather(element, address_part(addresses, p * size), alignment, lanes_));
  }
  return result;
}

void Widening::widen_store(llvm::StoreInst& store) {
  Value* value = store.getValueOperand();
  Value* pointer = store.getPointerOperand();
  Type* type = value->getType();
  if (shapes_.is_uniform(*pointer)) {
    // One place: what the last lane writes stays.
    Value* written = shapes_.is_uniform(*value) ? scalar_of(value) : whole_of(value, last_lane(lanes_));
    llvm::StoreInst* made =
        builder_.CreateAlignedStore(written, scalar_of(pointer), store.getAlign(), store.isVolatile());
    made->setAtomic(store.getOrdering(), store.getSyncScopeID());
    return;
  }
  if (store.isAtomic() || type->isAggregateType() || type->isIntOrIntVectorTy(1)) {
    lane_by_lane(store);
    return;
  }
  Type* element = type->getScalarType();
  const unsigned parts = parts_of(type);
  const std::uint64_t size = layout_.getTypeStoreSize(element).getFixedValue();
  const llvm::Align alignment = std::min(store.getAlign(), llvm::Align(llvm::PowerOf2Ceil(size)));
  if (const auto row = row_of(pointer, type)) {
    Type* bits = bits_like(builder_, element);
    Value* whole = builder_.CreateBitCast(vector_of(value, 0), wide(bits));
    if (row->distance > 1) {
      // Parts side by side, then in the order of the row.
      llvm::SmallVector<Value*, 4> pieces;
      for (unsigned p = 0; p < parts; ++p) pieces.push_back(builder_.CreateBitCast(vector_of(value, p), wide(bits)));
      while (pieces.size() < llvm::PowerOf2Ceil(parts)) pieces.push_back(llvm::PoisonValue::get(wide(bits)));
      llvm::SmallVector<int, 128> places;
      for (unsigned i = 0; i < width_ * row->distance; ++i) {
        const unsigned part = i % row->distance, lane = i / row->distance;
        places.push_back(part < parts ? static_cast<int>(part * width_ + lane) : -1);
      }
      whole = builder_.CreateShuffleVector(join(builder_, pieces), places);
    }
    if (!lanes_ && row->parts == row->distance) {
      builder_.CreateAlignedStore(whole, scalar_of(pointer), alignment, store.isVolatile());
    } else {
      builder_.CreateMaskedStore(whole, scalar_of(pointer), alignment,
                                 row_mask(builder_, lanes_, width_, row->parts, row->distance));
    }
    return;
  }
  if (store_runs(store, alignment) || scatter_words(store, alignment)) return;
  Value* addresses = vector_of(pointer);
  for (unsigned p = 0; p < parts; ++p) {
    scatter(vector_of(value, p), address_part(addresses, p * size), alignment, lanes_);
  }
}

// There are instructions for 32 and 64 bits. For what is narrower every lane reads on its own, and those that take no
// part read from a place that is always there.
Value* Widening::gather(Type* type, Value* addresses, llvm::Align alignment, Value* lanes) {
  const std::uint64_t bits = layout_.getTypeStoreSizeInBits(type).getFixedValue();
  if (bits >= 32) return builder_.CreateMaskedGather(wide(type), addresses, alignment, lanes_or_all(lanes));
  remark(std::to_string(bits) + " bits from anywhere in memory, by one lane after the other");
  if (++narrow_gathers_ > most_narrow_gathers) return call_narrow_gather(type, addresses, alignment, lanes);
  if (lanes) {
    Value* safe = builder_.CreateVectorSplat(width_, safe_address(addresses->getType()->getScalarType()));
    addresses = builder_.CreateSelect(lanes, addresses, safe);
  }
  Value* result = llvm::PoisonValue::get(wide(type));
  for (unsigned lane = 0; lane < width_; ++lane) {
    Value* own = builder_.CreateAlignedLoad(type, builder_.CreateExtractElement(addresses, lane), alignment);
    result = builder_.CreateInsertElement(result, own, lane);
  }
  return result;
}

void Widening::scatter(Value* value, Value* addresses, llvm::Align alignment, Value* lanes) {
  Type* type = value->getType()->getScalarType();
  if (layout_.getTypeStoreSizeInBits(type).getFixedValue() >= 32) {
    builder_.CreateMaskedScatter(value, addresses, alignment, lanes_or_all(lanes));
    return;
  }
  remark(std::to_string(layout_.getTypeStoreSizeInBits(type).getFixedValue()) +
         " bits to anywhere in memory, by one lane after the other");
  Value* own_values = spill(value);
  Value* own_addresses = spill(addresses);
  for_each_lane(builder_, wide_, bits_of(lanes), [&](Value* lane) {
    Value* address = load_element(builder_, addresses->getType()->getScalarType(), own_addresses, lane, width_);
    builder_.CreateAlignedStore(load_element(builder_, type, own_values, lane, width_), address, alignment);
  });
}

// Of the lines that all lanes together touch, if they are few and follow from the addresses of a few lanes. Rows are
// followed by processors themselves, where the next turn does not begin far behind (fetch_ahead.cpp: not to the nearest
// cache).
void Widening::widen_prefetch(llvm::CallInst& call) {
  Value* pointer = call.getArgOperand(0);
  const bool is_row = !shapes_.is_varying(*pointer);
  const bool is_near = llvm::cast<llvm::ConstantInt>(call.getArgOperand(2))->equalsInt(3);
  if (is_rare_ || shapes_.is_uniform(*pointer) || (is_row && is_near)) return;
  const LaneBits bits = shapes_.bits_of(*pointer);
  std::int64_t span = 0;
  unsigned followed = 0;
  llvm::SmallVector<unsigned, 5> apart;
  for (unsigned bit = 0; bit < lane_bits(); ++bit) {
    if (!bits.growth[bit]) {
      apart.push_back(bit);
      continue;
    }
    if (*bits.growth[bit] < 0) return;
    span += *bits.growth[bit];
    followed |= 1u << bit;
  }
  const auto starts = lanes_of_bits(apart);
  if (apart.size() > most_apart || static_cast<std::int64_t>(starts.size()) * (span + 1) > most_prefetched) return;
  for (const unsigned start : starts) {
    Value* first = is_row ? scalar_of(pointer)
                          : address_part(value_in_lane(pointer, start | followed), static_cast<std::uint64_t>(-span));
    for (std::int64_t line = 0; line <= span; line += cache_line) {
      builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer->getType()},
                               {address_part(first, static_cast<std::uint64_t>(line)), call.getArgOperand(1),
                                call.getArgOperand(2), call.getArgOperand(3)});
    }
  }
}

// A vector in memory, where a lane whose number is not constant finds its own.
Value* Widening::spill(Value* vector) {
  llvm::IRBuilder<> start(entry_, entry_->begin());
  Value* memory = start.CreateAlloca(vector->getType());
  builder_.CreateStore(vector, memory);
  return memory;
}

Widened Widening::widen_change(llvm::AtomicRMWInst& change) {
  if (shapes_.is_uniform(*change.getPointerOperand())) {
    if (auto result = widen_change_of_one(change)) return *result;
  } else if (change.getPointerAddressSpace() == threadgroup_space) {
    return change_threadgroup(change);
  }
  return lane_by_lane(change);
}

// All lanes change one place: their operands are combined, and memory is changed once. A lane's result is what the
// lanes before it have left.
std::optional<Widened> Widening::widen_change_of_one(llvm::AtomicRMWInst& change) {
  using Change = llvm::AtomicRMWInst;
  Type* type = change.getType();
  if (!type->isIntegerTy()) return std::nullopt;
  llvm::APInt neutral(type->getIntegerBitWidth(), 0);
  switch (change.getOperation()) {
    case Change::Add:
    case Change::Or:
    case Change::Xor:
    case Change::UMax: break;
    case Change::And:
    case Change::UMin: neutral.setAllBits(); break;
    case Change::Max: neutral = llvm::APInt::getSignedMinValue(neutral.getBitWidth()); break;
    case Change::Min: neutral = llvm::APInt::getSignedMaxValue(neutral.getBitWidth()); break;
    default: return std::nullopt;
  }
  const auto combine = [&](Value* a, Value* b) {
    return llvm::buildAtomicRMWValue(change.getOperation(), builder_, a, b);
  };
  Value* nothing = builder_.CreateVectorSplat(width_, llvm::ConstantInt::get(type, neutral));
  Value* own = vector_of(change.getValOperand());
  if (lanes_) own = builder_.CreateSelect(lanes_, own, nothing);
  Value* before = nullptr;
  Value* all = own;
  if (!change.use_empty()) {
    // Inclusive, then one lane further.
    Value* sums = own;
    const auto moved = [&](Value* value, unsigned distance) {
      llvm::SmallVector<int, simdgroup_width> sources;
      for (unsigned lane = 0; lane < width_; ++lane) {
        sources.push_back(static_cast<int>(lane >= distance ? lane - distance : width_ + lane));
      }
      return builder_.CreateShuffleVector(value, nothing, sources);
    };
    for (unsigned distance = 1; distance < width_; distance *= 2) sums = combine(sums, moved(sums, distance));
    before = moved(sums, 1);
    all = builder_.CreateExtractElement(sums, width_ - 1);
  } else {
    for (unsigned width = width_ / 2; width >= 1; width /= 2) {
      llvm::SmallVector<int, simdgroup_width> low, high;
      for (unsigned lane = 0; lane < width; ++lane) {
        low.push_back(static_cast<int>(lane));
        high.push_back(static_cast<int>(lane + width));
      }
      all = combine(builder_.CreateShuffleVector(all, low), builder_.CreateShuffleVector(all, high));
    }
    all = builder_.CreateExtractElement(all, std::uint64_t{0});
  }
  Value* old = copy_for_lane(change, {scalar_of(change.getPointerOperand()), all});
  Widened result;
  if (before)
    result.vectors.push_back(combine(builder_.CreateVectorSplat(width_, old), before));
  else
    result.vectors.push_back(llvm::PoisonValue::get(wide(type)));
  return result;
}

}  // namespace metalloid::engines::simd
