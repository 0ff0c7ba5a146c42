// Accesses of memory by runs: lanes that differ in some bits of their number touch a row, or one place.
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

#include "engines/simd/widening/widening.h"

namespace metalloid::engines::simd {

using llvm::Value;

namespace {

// Stores by more runs of a function that are there once each.
constexpr unsigned most_long_stores = 8;

}  // namespace

// Whether the address of any lane follows from that of any other.
bool Widening::is_all_known(const LaneBits& bits) {
  return llvm::all_of(bits.growth, [](const auto& growth) { return growth && *growth >= 0; });
}

std::optional<Widening::Runs> Widening::runs_of(const Value* pointer, Type* type) const {
  const LaneBits bits = shapes_.bits_of(*pointer);
  const std::uint64_t size = layout_.getTypeStoreSize(type->getScalarType()).getFixedValue();
  const auto own = static_cast<std::int64_t>(parts_of(type) * size);
  Runs runs;
  for (std::int64_t next = own;; next *= 2) {
    const unsigned before = static_cast<unsigned>(runs.along.size());
    for (unsigned bit = 0; bit < lane_bits(); ++bit) {
      if (bits.growth[bit] == next) {
        runs.along.push_back(bit);
        break;
      }
    }
    if (runs.along.size() == before) break;
  }
  llvm::SmallVector<unsigned, 5> others;
  for (unsigned bit = 0; bit < lane_bits(); ++bit) {
    if (bits.growth[bit] == 0) {
      runs.same.push_back(bit);
    } else if (!llvm::is_contained(runs.along, bit)) {
      others.push_back(bit);
    }
  }
  const bool is_any_number_good = !lanes_ && is_all_known(bits) && (size < 4 || !runs.along.empty());
  const unsigned number = 1u << others.size();
  if ((number > most_runs || number == width_) && !is_any_number_good) return std::nullopt;
  runs.starts = lanes_of_bits(others);
  return runs;
}

// All lanes with some of these bits, in the order of the bits.
llvm::SmallVector<unsigned, 16> Widening::lanes_of_bits(llvm::ArrayRef<unsigned> bits) {
  llvm::SmallVector<unsigned, 16> lanes;
  for (unsigned choice = 0; choice < 1u << bits.size(); ++choice) {
    unsigned lane = 0;
    for (unsigned i = 0; i < bits.size(); ++i) lane |= ((choice >> i) & 1) << bits[i];
    lanes.push_back(lane);
  }
  return lanes;
}

// Of the run's first lane; counted from its last one, as in widen_index.
Value* Widening::run_address(Value* pointer, llvm::ArrayRef<unsigned> along, unsigned start, std::uint64_t own) {
  const LaneBits bits = shapes_.bits_of(*pointer);
  if (is_all_known(bits)) {
    std::int64_t before = 0, behind = 0;
    for (unsigned bit = 0; bit < bits.growth.size(); ++bit) {
      ((start >> bit) & 1 ? before : behind) += *bits.growth[bit];
    }
    if (!shapes_.is_varying(*pointer)) return address_part(scalar_of(pointer), static_cast<std::uint64_t>(before));
    return address_part(value_in_lane(pointer, width_ - 1), static_cast<std::uint64_t>(-behind));
  }
  const unsigned last = start | lanes_of_bits(along).back();
  const auto length = static_cast<std::int64_t>(own * ((1u << along.size()) - 1));
  return address_part(value_in_lane(pointer, last), static_cast<std::uint64_t>(-length));
}

// Of a run's elements those that a lane that takes part wants.
Value* Widening::run_lanes(llvm::IRBuilder<>& builder, Value* lanes, const Runs& runs, unsigned start, unsigned parts) {
  Value* result = nullptr;
  for (const unsigned twin : lanes_of_bits(runs.same)) {
    llvm::SmallVector<int, 64> places;
    for (const unsigned lane : lanes_of_bits(runs.along)) places.append(parts, static_cast<int>(start | twin | lane));
    Value* own = builder.CreateShuffleVector(lanes, places);
    result = result ? builder.CreateOr(result, own) : own;
  }
  return result;
}

bool Widening::load_runs(llvm::LoadInst& load, llvm::Align alignment, Widened& result) {
  Type* type = load.getType();
  Type* element = type->getScalarType();
  Value* pointer = load.getPointerOperand();
  const auto runs = runs_of(pointer, type);
  if (!runs || load.isVolatile() || (runs->starts.size() > most_runs && pieces_of(pointer, type))) return false;
  const unsigned parts = parts_of(type);
  const std::uint64_t own = parts * layout_.getTypeStoreSize(element).getFixedValue();
  const auto along = lanes_of_bits(runs->along), same = lanes_of_bits(runs->same);
  auto* row = llvm::FixedVectorType::get(bits_like(builder_, element), static_cast<unsigned>(along.size()) * parts);
  llvm::SmallVector<Value*, 16> rows;
  llvm::SmallVector<unsigned, simdgroup_width> place(width_);
  const bool is_called = calls_short_runs(load);
  for (unsigned run = 0; run < runs->starts.size(); ++run) {
    const unsigned start = runs->starts[run];
    for (unsigned i = 0; i < along.size(); ++i) {
      for (const unsigned twin : same) {
        place[start | twin | along[i]] = static_cast<unsigned>((run * along.size() + i) * parts);
      }
    }
    if (is_called) continue;
    Value* address = run_address(pointer, runs->along, start, own);
    if (!lanes_) {
      rows.push_back(builder_.CreateAlignedLoad(row, address, alignment));
    } else if (along.size() > 1) {
      rows.push_back(
          builder_.CreateMaskedLoad(row, address, alignment, run_lanes(builder_, lanes_, *runs, start, parts)));
    } else {
      std::uint32_t takers = 0;
      for (const unsigned twin : same) takers |= 1u << (start | twin);
      Value* is_used =
          builder_.CreateICmpNE(builder_.CreateAnd(bits_of(lanes_), builder_.getInt32(takers)), builder_.getInt32(0));
      address = builder_.CreateSelect(is_used, address, safe_address(address->getType()));
      rows.push_back(builder_.CreateAlignedLoad(row, address, alignment));
    }
  }
  auto* all_rows = llvm::FixedVectorType::get(row->getElementType(),
                                              row->getNumElements() * static_cast<unsigned>(runs->starts.size()));
  Value* all = is_called ? call_runs(load, *runs, alignment, all_rows, nullptr) : join(builder_, rows);
  for (unsigned part = 0; part < parts; ++part) {
    llvm::SmallVector<int, simdgroup_width> places;
    for (unsigned lane = 0; lane < width_; ++lane) places.push_back(static_cast<int>(place[lane] + part));
    result.vectors.push_back(builder_.CreateBitCast(builder_.CreateShuffleVector(all, places), wide(element)));
  }
  return true;
}

// In a vector of all lanes' elements, part by part.
llvm::SmallVector<int, 64> Widening::places_of_run(llvm::ArrayRef<unsigned> along, unsigned start,
                                                   unsigned parts) const {
  llvm::SmallVector<int, 64> places;
  for (const unsigned lane : lanes_of_bits(along)) {
    for (unsigned part = 0; part < parts; ++part) places.push_back(static_cast<int>(part * width_ + (start | lane)));
  }
  return places;
}

bool Widening::store_runs(llvm::StoreInst& store, llvm::Align alignment) {
  Value* value = store.getValueOperand();
  Type* element = value->getType()->getScalarType();
  const auto runs = runs_of(store.getPointerOperand(), value->getType());
  if (!runs || !runs->same.empty() || store.isVolatile()) return false;
  const unsigned parts = parts_of(value->getType());
  const std::uint64_t own = parts * layout_.getTypeStoreSize(element).getFixedValue();
  llvm::SmallVector<Value*, 16> pieces;
  for (unsigned part = 0; part < parts; ++part) {
    pieces.push_back(builder_.CreateBitCast(vector_of(value, part), wide(bits_like(builder_, element))));
  }
  while (!llvm::isPowerOf2_64(pieces.size())) pieces.push_back(llvm::PoisonValue::get(pieces[0]->getType()));
  Value* all = join(builder_, pieces);
  if (calls_short_runs(store)) {
    call_runs(store, *runs, alignment, all->getType(), all);
    return true;
  }
  if (runs->starts.size() > most_runs && ++long_stores_ > most_long_stores) {
    call_runs(store, *runs, alignment, all->getType(), all);
    return true;
  }
  for (const unsigned start : runs->starts) {
    Value* row = builder_.CreateShuffleVector(all, places_of_run(runs->along, start, parts));
    Value* address = run_address(store.getPointerOperand(), runs->along, start, own);
    if (lanes_) {
      builder_.CreateMaskedStore(row, address, alignment, run_lanes(builder_, lanes_, *runs, start, parts));
    } else {
      builder_.CreateAlignedStore(row, address, alignment);
    }
  }
  return true;
}

}  // namespace metalloid::engines::simd
