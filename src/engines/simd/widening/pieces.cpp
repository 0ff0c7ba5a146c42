// Loads of lanes that lie apart: pieces of 16 bytes, sorted out in registers.
//
//   float4 of lanes that lie anywhere          lane 0: x0 y0 z0 w0        x: x0 x1 x2 x3 ...
//                                              lane 1: x1 y1 z1 w1   ->   y: y0 y1 y2 y3 ...
//                                              ...                        ...
//
// A piece is one lane's, or that of some lanes side by side. Vectors of pieces are put together so that each 16 bytes
// of a vector are one piece, and pairs of vectors are merged element by element, which processors do within 16 bytes:
// the vectors' number gains a bit of an element's place and the place one of the vectors' number. What remains are the
// parts, with lanes in order. Elements of less than 32 bits come in words, and are taken out of them by shifts, as
// kernels take smaller numbers out of them.
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DerivedTypes.h>

#include "engines/simd/widening/widening.h"

namespace metalloid::engines::simd {

using llvm::Value;

namespace {

constexpr unsigned piece_bytes = 16;
constexpr std::uint64_t word_bytes = 4;
// Of bits of a part's number; those below are bits of the lane's.
constexpr unsigned first_part_bit = 5;

}  // namespace

std::optional<Widening::Pieces> Widening::pieces_of(const Value* pointer, Type* type) const {
  const std::uint64_t size = std::max(layout_.getTypeStoreSize(type->getScalarType()).getFixedValue(), word_bytes);
  const std::uint64_t own = own_bytes(type);
  if (!llvm::isPowerOf2_64(size) || size > 8 || !llvm::isPowerOf2_64(own) || own < word_bytes) return std::nullopt;
  Pieces pieces;
  pieces.elements = static_cast<unsigned>(piece_bytes / size);
  pieces.place_bits = llvm::Log2_32(pieces.elements);
  const LaneBits bits = shapes_.bits_of(*pointer);
  for (std::uint64_t next = own; next < piece_bytes; next *= 2) {
    const auto* bit = llvm::find(bits.growth, std::optional(static_cast<std::int64_t>(next)));
    if (bit == bits.growth.end()) return std::nullopt;
    pieces.along.push_back(static_cast<unsigned>(bit - bits.growth.begin()));
    if (pieces.along.back() >= pieces.place_bits) return std::nullopt;
  }
  // From the top of an element's place down.
  llvm::SmallVector<unsigned, 4> place;
  for (const unsigned bit : llvm::reverse(pieces.along)) place.push_back(bit);
  const unsigned part_bits = pieces.place_bits - static_cast<unsigned>(pieces.along.size());
  for (unsigned i = part_bits; i > 0; --i) place.push_back(first_part_bit + i - 1);
  for (unsigned bit = 0; bit < pieces.place_bits; ++bit) {
    if (!llvm::is_contained(pieces.along, bit)) pieces.vectors.push_back(bit);
  }
  // Each step needs the lane's bit that comes next among those of the vectors' number.
  llvm::SmallVector<unsigned, 4> number = pieces.vectors;
  for (unsigned bit = pieces.place_bits; bit > 0; --bit) {
    auto* entering = llvm::find(number, bit - 1);
    if (entering == number.end()) return std::nullopt;
    pieces.steps.push_back(static_cast<unsigned>(entering - number.begin()));
    *entering = place.front();
    place.erase(place.begin());
    place.push_back(bit - 1);
  }
  pieces.order = number;
  pieces.groups = static_cast<unsigned>(std::max<std::uint64_t>(own / piece_bytes, 1));
  return pieces;
}

bool Widening::load_pieces(llvm::LoadInst& load, llvm::Align alignment, Widened& result) {
  Type* type = load.getType();
  Value* pointer = load.getPointerOperand();
  const auto pieces = pieces_of(pointer, type);
  if (!pieces || load.isVolatile() || (lanes_ && !pieces->along.empty())) return false;
  Type* element = type->getScalarType();
  const std::uint64_t own = own_bytes(type);
  Type* word = own / parts_of(type) < word_bytes ? builder_.getInt32Ty() : element;
  const auto words = static_cast<unsigned>(own / layout_.getTypeStoreSize(word).getFixedValue());
  // Lanes that take no part read from a place that is always there.
  Value* safe = nullptr;
  if (lanes_) {
    if (own > safe_bytes) return false;
    Value* place = builder_.CreateVectorSplat(width_, safe_address(pointer->getType()));
    safe = builder_.CreateSelect(lanes_, vector_of(pointer), place);
  }
  auto* piece_type = llvm::FixedVectorType::get(word, pieces->elements);
  llvm::SmallVector<unsigned, 5> upper;
  for (unsigned bit = pieces->place_bits; bit < lane_bits(); ++bit) upper.push_back(bit);
  for (unsigned group = 0; group < pieces->groups; ++group) {
    llvm::SmallVector<Value*, 16> vectors;
    for (const unsigned first : lanes_of_bits(pieces->vectors)) {
      llvm::SmallVector<Value*, 16> row;
      for (const unsigned lane : lanes_of_bits(upper)) {
        Value* address = safe ? builder_.CreateExtractElement(safe, first | lane)
                              : run_address(pointer, pieces->along, first | lane, own);
        row.push_back(builder_.CreateAlignedLoad(piece_type, address_part(address, group * piece_bytes), alignment));
      }
      vectors.push_back(join(builder_, row));
    }
    for (const unsigned step : pieces->steps) merge_vectors(vectors, step, pieces->elements);
    // Which number a part has got.
    const unsigned in_group = words / pieces->groups;
    for (unsigned part = 0; part < in_group; ++part) {
      unsigned number = 0;
      for (unsigned i = 0; i < pieces->order.size(); ++i) {
        number |= ((part >> (pieces->order[i] - first_part_bit)) & 1) << i;
      }
      result.vectors.push_back(vectors[number]);
    }
  }
  result.vectors = parts_of_words(result.vectors, element);
  return true;
}

std::uint64_t Widening::own_bytes(Type* type) const {
  return parts_of(type) * layout_.getTypeStoreSize(type->getScalarType()).getFixedValue();
}

// The elements that words consist of, low ones first.
llvm::SmallVector<Value*, 4> Widening::parts_of_words(llvm::ArrayRef<Value*> words, Type* element) {
  const std::uint64_t size = layout_.getTypeStoreSize(element).getFixedValue();
  llvm::SmallVector<Value*, 4> parts;
  for (Value* word : words) {
    Type* type = word->getType()->getScalarType();
    const std::uint64_t bytes = layout_.getTypeStoreSize(type).getFixedValue();
    if (bytes == size) {
      parts.push_back(builder_.CreateBitCast(word, wide(element)));
      continue;
    }
    if (bytes == 2 * word_bytes) {
      Value* halves = builder_.CreateBitCast(word, llvm::FixedVectorType::get(builder_.getInt32Ty(), 2 * width_));
      for (int half = 0; half < 2; ++half) {
        llvm::SmallVector<int, simdgroup_width> places;
        for (int lane = 0; lane < static_cast<int>(width_); ++lane) places.push_back(2 * lane + half);
        parts.append(parts_of_words({builder_.CreateShuffleVector(halves, places)}, element));
      }
      continue;
    }
    for (std::uint64_t place = 0; place < bytes; place += size) {
      Value* bits = builder_.CreateTrunc(builder_.CreateLShr(word, 8 * place),
                                         wide(builder_.getIntNTy(static_cast<unsigned>(8 * size))));
      parts.push_back(builder_.CreateBitCast(bits, wide(element)));
    }
  }
  return parts;
}

// By the largest words that there are gathers for.
bool Widening::gather_words(llvm::LoadInst& load, llvm::Align alignment, Widened& result) {
  Type* element = load.getType()->getScalarType();
  const std::uint64_t own = own_bytes(load.getType()), size = own / parts_of(load.getType());
  const std::uint64_t bytes = own % (2 * word_bytes) == 0 ? 2 * word_bytes : word_bytes;
  if (own % bytes != 0 || size >= bytes || !llvm::isPowerOf2_64(size)) return false;
  Value* addresses = vector_of(load.getPointerOperand());
  llvm::SmallVector<Value*, 4> words;
  for (std::uint64_t place = 0; place < own; place += bytes) {
    words.push_back(gather(builder_.getIntNTy(static_cast<unsigned>(8 * bytes)), address_part(addresses, place),
                           std::min(alignment, llvm::Align(size)), lanes_));
  }
  result.vectors = parts_of_words(words, element);
  return true;
}

// The reverse: elements that lie side by side in words.
bool Widening::scatter_words(llvm::StoreInst& store, llvm::Align alignment) {
  Value* value = store.getValueOperand();
  const std::uint64_t own = own_bytes(value->getType()), size = own / parts_of(value->getType());
  if (own % word_bytes != 0 || size >= word_bytes || !llvm::isPowerOf2_64(size)) return false;
  Type* bits = wide(builder_.getIntNTy(static_cast<unsigned>(8 * size)));
  Value* addresses = vector_of(store.getPointerOperand());
  unsigned part = 0;
  for (std::uint64_t place = 0; place < own; place += word_bytes) {
    Value* word = nullptr;
    for (std::uint64_t within = 0; within < word_bytes; within += size) {
      Value* added =
          builder_.CreateZExt(builder_.CreateBitCast(vector_of(value, part++), bits), wide(builder_.getInt32Ty()));
      added = builder_.CreateShl(added, 8 * within);
      word = word ? builder_.CreateOr(word, added) : added;
    }
    scatter(word, address_part(addresses, place), std::min(alignment, llvm::Align(size)), lanes_);
  }
  return true;
}

// Vectors whose numbers differ in a bit become the merged lower halves, and the upper ones, of each piece's elements.
void Widening::merge_vectors(llvm::MutableArrayRef<Value*> vectors, unsigned bit, unsigned elements) {
  llvm::SmallVector<int, simdgroup_width> low, high;
  for (unsigned i = 0; i < width_; ++i) {
    const unsigned place = i % elements;
    const unsigned from = i - place + place / 2 + (place % 2) * width_;
    low.push_back(static_cast<int>(from));
    high.push_back(static_cast<int>(from + elements / 2));
  }
  for (unsigned number = 0; number < vectors.size(); ++number) {
    if (((number >> bit) & 1) != 0) continue;
    Value *&a = vectors[number], *&b = vectors[number | (1u << bit)];
    Value* lower = builder_.CreateShuffleVector(a, b, low);
    b = builder_.CreateShuffleVector(a, b, high);
    a = lower;
  }
}

}  // namespace metalloid::engines::simd
