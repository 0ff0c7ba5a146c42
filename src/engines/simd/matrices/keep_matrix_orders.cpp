// keep_matrix_orders
//
//   1. Variables become values, as they are in memory where they go from block to block.
//   2. Where a matrix is put in order whose vectors are phis of one block, the phi becomes one of the ordered matrix:
//
//        %even = phi [%e0, %entry], [%e1, %loop]
//        %odd = phi [%o0, %entry], [%o1, %loop]
//        %sum = shufflevector %even, %odd, <order>
//      ->
//        %sum = phi [shufflevector %e0, %o0, <order>], [shufflevector %e1, %o1, <order>]
//        %even = shufflevector %sum, poison, <inverse>
//        %odd = shufflevector %sum, poison, <inverse>
//
//      The orders that products want come first: loops have more of them than what is behind, which stores sums.
//
//   3. What shuffles elements of one whole matrix, or of the two halves of one, by way of others takes them from there.
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Transforms/Scalar/SROA.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engines/simd/matrices/matrix_products.h"
#include "engines/simd/vectors/joined_vectors.h"
#include "ir/support/long_blocks.h"
#include "ir/support/pass_managers.h"
#include "ir/support/promote_variables.h"

namespace metalloid::engines::simd {
namespace {

using llvm::ShuffleVectorInst;
using llvm::Value;

constexpr unsigned whole = 64, tile = 16;  // elements

unsigned length(const Value& value) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value.getType());
  return type ? type->getNumElements() : 0;
}

// As many elements of the same size.
Value* behind_bitcasts(Value* value) {
  while (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) {
    if (length(*cast->getOperand(0)) != length(*cast)) break;
    value = cast->getOperand(0);
  }
  return value;
}

struct Element {
  Value* source = nullptr;  // null: of no matrix
  int place = 0;            // -1: any value
};

// What a shuffle's element is an element of, and where: of a whole matrix, or of half of one.
Element trace(ShuffleVectorInst& shuffle, unsigned index) {
  auto* at = &shuffle;
  for (int place = static_cast<int>(index);;) {
    place = at->getMaskValue(static_cast<unsigned>(place));
    if (place < 0) return {nullptr, -1};
    const int first = static_cast<int>(length(*at->getOperand(0)));
    Value* from = behind_bitcasts(at->getOperand(place < first ? 0 : 1));
    place %= first;
    auto* next = llvm::dyn_cast<ShuffleVectorInst>(from);
    // Of two sources: where vectors were put together, unless both are of one matrix.
    const bool is_one =
        next && llvm::isa<llvm::UndefValue>(next->getOperand(1)) && length(*next->getOperand(0)) >= length(*from);
    if ((length(*from) == whole || length(*from) == whole / 2) && !is_one) return {from, place};
    if (!next) return {};
    at = next;
  }
}

// Of each bit of an element's number, which bit of its place it is; nothing if places are no such thing.
std::optional<std::array<unsigned, 6>> bit_places(llvm::ArrayRef<int> places) {
  std::array<unsigned, 6> result{};
  for (unsigned bit = 0; bit < 6; ++bit) {
    const int place = places[std::size_t{1} << bit];
    if (place <= 0 || !llvm::isPowerOf2_32(static_cast<unsigned>(place))) return std::nullopt;
    result[bit] = llvm::Log2_32(static_cast<unsigned>(place));
  }
  for (unsigned i = 0; i < whole; ++i) {
    unsigned sum = 0;
    for (unsigned bit = 0; bit < 6; ++bit) sum |= (i >> bit & 1) << result[bit];
    if (places[i] != static_cast<int>(sum)) return std::nullopt;
  }
  return result;
}

// A matrix of four registers, each of which gets elements of all four: in two rounds, in which each takes from two.
// LLVM would take several times as many.
//
//   1. A bit of the number within a register changes places with the lower bit of the register's.
//   2. With that bit in its place, elements come from two registers.
Value* shuffle_in_rounds(llvm::IRBuilder<>& builder, Value* matrix, llvm::ArrayRef<int> places, unsigned bit) {
  const auto exchange = [&](unsigned i) {
    const unsigned low = i >> bit & 1, high = i >> 4 & 1;
    return (i & ~(1u << bit | 16u)) | low << 4 | high << bit;
  };
  std::array<Value*, 4> before{}, between{}, behind{};
  for (unsigned i = 0; i < 4; ++i) before[i] = piece_of(builder, matrix, i, tile);
  for (unsigned i = 0; i < 4; ++i) {
    llvm::SmallVector<int, tile> from;
    for (unsigned k = 0; k < tile; ++k) from.push_back(static_cast<int>(exchange(i * tile + k) % 32));
    between[i] = builder.CreateShuffleVector(before[i & 2], before[(i & 2) + 1], from);
  }
  for (unsigned i = 0; i < 4; ++i) {
    llvm::SmallVector<int, tile> from;
    for (unsigned k = 0; k < tile; ++k) {
      const unsigned at = exchange(static_cast<unsigned>(places[i * tile + k]));
      from.push_back(static_cast<int>(at % tile + at / 32 * tile));
    }
    behind[i] = builder.CreateShuffleVector(between[i & 1], between[2 + (i & 1)], from);
  }
  return join(builder, behind);
}

void take_from_matrix(ShuffleVectorInst& shuffle) {
  llvm::SmallVector<Value*, 2> sources;
  llvm::SmallVector<int, whole> places;
  for (unsigned i = 0; i < length(shuffle); ++i) {
    const Element element = trace(shuffle, i);
    places.push_back(element.place);
    if (element.place < 0) continue;
    if (!element.source) return;
    if (!llvm::is_contained(sources, element.source)) sources.push_back(element.source);
    const bool is_first = element.source == sources[0];
    if (length(*element.source) == whole ? !is_first : !is_first && element.source != sources[1]) return;
    if (!is_first) places.back() += static_cast<int>(whole / 2);
  }
  const bool are_halves = sources.size() == 2 && length(shuffle) == whole;
  if (sources.empty() || (!are_halves && (sources.size() != 1 || length(*sources[0]) != whole))) return;
  if (length(*sources[0]) + (are_halves ? length(*sources[1]) : 0) != whole) return;
  if (sources[0] == shuffle.getOperand(0) && (!are_halves || sources[1] == shuffle.getOperand(1))) return;
  llvm::IRBuilder<> builder(&shuffle);
  Value* matrix = sources[0];
  if (are_halves) {
    if (sources[0]->getType() != sources[1]->getType()) return;
    matrix = join(builder, sources);
  }
  auto* elements = llvm::FixedVectorType::get(shuffle.getType()->getElementType(), whole);
  if (matrix->getType() != elements) matrix = builder.CreateBitCast(matrix, elements);
  const auto bits = length(shuffle) == whole ? bit_places(places) : std::nullopt;
  Value* taken = matrix;
  if (bits && (*bits)[4] < 4 && (*bits)[5] < 4) {
    taken = shuffle_in_rounds(builder, matrix, places, (*bits)[4]);
  } else if (!bits || *bits != std::array<unsigned, 6>{0, 1, 2, 3, 4, 5}) {
    taken = builder.CreateShuffleVector(matrix, places);
  }
  shuffle.replaceAllUsesWith(taken);
  shuffle.eraseFromParent();
}

// Each element of two vectors once.
bool is_order(const ShuffleVectorInst& shuffle) {
  if (length(shuffle) != whole || length(*shuffle.getOperand(0)) != whole / 2) return false;
  std::uint64_t seen = 0;
  for (const int place : shuffle.getShuffleMask()) {
    if (place < 0) return false;
    seen |= std::uint64_t{1} << place;
  }
  return seen == ~std::uint64_t{0};
}

bool move_in_front_of_phis(ShuffleVectorInst& shuffle, std::vector<ShuffleVectorInst*>& made) {
  auto* even = llvm::dyn_cast<llvm::PHINode>(shuffle.getOperand(0));
  auto* odd = llvm::dyn_cast<llvm::PHINode>(shuffle.getOperand(1));
  if (!even || !odd || even == odd || even->getParent() != odd->getParent() || !is_order(shuffle)) return false;
  llvm::BasicBlock* block = even->getParent();
  const auto behind = block->getFirstInsertionPt();
  if (behind == block->end()) return false;
  llvm::IRBuilder<> builder(block, block->begin());
  llvm::PHINode* ordered = builder.CreatePHI(shuffle.getType(), even->getNumIncomingValues());
  llvm::DenseMap<llvm::BasicBlock*, Value*> known;  // a block may come several times
  for (llvm::BasicBlock* from : even->blocks()) {
    Value*& value = known[from];
    if (!value) {
      builder.SetInsertPoint(from->getTerminator());
      value = builder.CreateShuffleVector(even->getIncomingValueForBlock(from), odd->getIncomingValueForBlock(from),
                                          shuffle.getShuffleMask());
      if (auto* instruction = llvm::dyn_cast<ShuffleVectorInst>(value)) made.push_back(instruction);
    }
    ordered->addIncoming(value, from);
  }
  llvm::SmallVector<int, whole> inverse(whole);
  for (unsigned i = 0; i < whole; ++i) inverse[static_cast<unsigned>(shuffle.getMaskValue(i))] = static_cast<int>(i);
  builder.SetInsertPoint(block, behind);
  even->replaceAllUsesWith(builder.CreateShuffleVector(ordered, llvm::ArrayRef(inverse).take_front(whole / 2)));
  odd->replaceAllUsesWith(builder.CreateShuffleVector(ordered, llvm::ArrayRef(inverse).drop_front(whole / 2)));
  even->eraseFromParent();
  odd->eraseFromParent();
  return true;
}

void keep_orders(llvm::Function& function, const llvm::Function& product) {
  std::vector<ShuffleVectorInst*> waiting, of_products;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* shuffle = llvm::dyn_cast<ShuffleVectorInst>(&instruction);
    if (!shuffle) continue;
    const bool is_of_product = llvm::any_of(shuffle->users(), [&](const llvm::User* user) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      return call && call->getCalledFunction() == &product;
    });
    (is_of_product ? of_products : waiting).push_back(shuffle);
  }
  for (auto* shuffles : {&of_products, &waiting}) {
    while (!shuffles->empty()) {
      ShuffleVectorInst* shuffle = shuffles->back();
      shuffles->pop_back();
      move_in_front_of_phis(*shuffle, *shuffles);
    }
  }
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function)) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      if (auto* shuffle = llvm::dyn_cast<ShuffleVectorInst>(&instruction)) take_from_matrix(*shuffle);
    }
  }
}

}  // namespace

void keep_matrix_orders(llvm::Module& module) {
  llvm::Function* product = module.getFunction(llvm::StringRef(product_name));
  if (!product) return;
  llvm::SmallPtrSet<llvm::Function*, 4> functions;
  for (llvm::User* user : product->users()) functions.insert(llvm::cast<llvm::Instruction>(user)->getFunction());
  ir::PassManagers managers;
  for (llvm::Function& function : module) {
    if (!functions.contains(&function)) continue;
    ir::join_blocks(function);
    ir::promote_short_variables(function);
    llvm::SROAPass(llvm::SROAOptions::ModifyCFG).run(function, managers.functions);
    keep_orders(function, *product);
  }
}

}  // namespace metalloid::engines::simd
