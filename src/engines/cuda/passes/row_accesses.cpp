#include "engines/cuda/passes/row_accesses.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>

#include <algorithm>

#include "engines/cuda/passes/fork_by_alignment.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

// Elements of a row that is accessed in pieces of the GPU's widest access, or as one that is smaller.
struct Pieces {
  Pieces(llvm::Instruction& access, unsigned count) : type(llvm::getLoadStoreType(&access)) {
    const std::uint64_t bytes = bytes_of(access);
    piece = row_alignment(access, count);
    in_piece = static_cast<unsigned>(piece / bytes);
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    elements = vector ? vector->getNumElements() : 1;
    wide = llvm::FixedVectorType::get(type->getScalarType(), in_piece * elements);
  }

  llvm::Type* type;
  llvm::FixedVectorType* wide;
  std::uint64_t piece;
  unsigned in_piece, elements;
};

Value* place_of(llvm::IRBuilderBase& builder, Value* first, const Pieces& pieces, unsigned j) {
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), first, j / pieces.in_piece * pieces.piece);
}

void take_metadata(llvm::Instruction& made, const llvm::Instruction& access) {
  made.copyMetadata(access, {llvm::LLVMContext::MD_invariant_load, llvm::LLVMContext::MD_nontemporal,
                             llvm::LLVMContext::MD_alias_scope, llvm::LLVMContext::MD_noalias});
  note_aligned(made);
}

Value* element(llvm::IRBuilderBase& builder, Value* row, unsigned i, const Pieces& pieces) {
  if (!pieces.type->isVectorTy()) return builder.CreateExtractElement(row, i);
  llvm::SmallVector<int, 8> places;
  for (unsigned e = 0; e < pieces.elements; ++e) places.push_back(static_cast<int>(i * pieces.elements + e));
  return builder.CreateShuffleVector(row, places);
}

}  // namespace

std::uint64_t bytes_of(const llvm::Instruction& access) {
  return access.getDataLayout().getTypeStoreSize(llvm::getLoadStoreType(&access)).getFixedValue();
}

std::uint64_t row_alignment(const llvm::Instruction& access, unsigned count) {
  return std::min(count * bytes_of(access), widest_access.value());
}

std::vector<Value*> load_row(llvm::IRBuilderBase& builder, llvm::LoadInst& access, Value* first, unsigned count) {
  const Pieces pieces(access, count);
  std::vector<Value*> values;
  for (unsigned j = 0; j < count; j += pieces.in_piece) {
    llvm::LoadInst* made =
        builder.CreateAlignedLoad(pieces.wide, place_of(builder, first, pieces, j), llvm::Align(pieces.piece));
    take_metadata(*made, access);
    for (unsigned i = 0; i < pieces.in_piece; ++i) values.push_back(element(builder, made, i, pieces));
  }
  return values;
}

void store_row(llvm::IRBuilderBase& builder, llvm::StoreInst& access, Value* first, llvm::ArrayRef<Value*> values) {
  const Pieces pieces(access, static_cast<unsigned>(values.size()));
  for (unsigned j = 0; j < values.size(); j += pieces.in_piece) {
    Value* place = place_of(builder, first, pieces, j);
    Value* row = llvm::PoisonValue::get(pieces.wide);
    for (unsigned i = 0; i < pieces.in_piece * pieces.elements; ++i) {
      Value* value = values[j + i / pieces.elements];
      if (pieces.type->isVectorTy()) value = builder.CreateExtractElement(value, i % pieces.elements);
      row = builder.CreateInsertElement(row, value, i);
    }
    take_metadata(*builder.CreateAlignedStore(row, place, llvm::Align(pieces.piece)), access);
  }
}

}  // namespace metalloid::engines::cuda
